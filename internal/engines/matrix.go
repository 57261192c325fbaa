// No upstream twin: drives other engines over many keys of one database.

package engines

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

//go:embed matrix.js
var matrixScript string

// Job is what an npm engine does with one database: it reads it all and asks
// for keys, or, where there are lines, writes those and flushes.
type Job struct {
	DB      string         `json:"db"`
	Options map[string]any `json:"options,omitempty"` // the binding's own
	// Prefix is how many bytes of a key name its cell.
	Prefix int         `json:"prefix"`
	Gets   []string    `json:"gets"`            // keys in hex
	Lines  [][2]string `json:"lines,omitempty"` // keys and values in hex
}

// Result is what the engine read.
type Result struct {
	Error string `json:"error"` // of opening, scanning or writing
	Cells map[string]struct {
		N   int    `json:"n"`
		MD5 string `json:"md5"`
	} `json:"cells"` // by prefix, sums of lines "0xKEY ==> 0xVALUE\n"
	Gets map[string]string `json:"gets"` // sum of the value, "", or "!" and an error
}

// RunJob lets the npm engine of that version do a job.
func RunJob(t testing.TB, version string, job *Job) *Result {
	t.Helper()
	in, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "-e", matrixScript, version)
	cmd.Dir, cmd.Stdin = npmDir(t), bytes.NewReader(in)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	runErr := cmd.Run()
	r := &Result{}
	if err := json.Unmarshal(out.Bytes(), r); err != nil {
		r.Error = fmt.Sprintf("the engine ended: %v: %.300s", runErr, errs.String())
	}
	return r
}

// Missing says why the engine of that version cannot be driven, "" when it can.
func Missing(version string) string {
	if version == "7.8.3" {
		if _, err := os.Stat("/usr/bin/ldb"); err != nil {
			return "Debian's ldb is not installed (package rocksdb-tools)"
		}
		return ""
	}
	_, why := findNPM()
	return why
}
