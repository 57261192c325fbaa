// No upstream twin: the scripts, in the shells that this machine has.

package completion

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var sample = Program{
	Name: "sample-tool",
	Commands: []Command{
		{Name: "get", Help: "reads: one key's value", Flags: []string{"hex", "ttl"}},
		{Name: "get_all", Flags: []string{"max_keys"}},
		{Name: "put"},
	},
	Flags: []string{"db", "try_load_options"},
}

func TestScriptSyntax(t *testing.T) {
	for _, shell := range Shells {
		text, err := Script(shell, sample)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"get_all", "--max_keys", "--try_load_options"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s", shell, want)
			}
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("no %s here", shell)
			continue
		}
		file := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", shell, err, out)
		}
	}
	if _, err := Script("csh", sample); err == nil {
		t.Error("csh is known")
	}
}

// TestBash completes lines as bash does.
func TestBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	text, err := Script("bash", sample)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"ge":              "get get_all",
		"pu":              "put",
		"--d":             "--db",
		"get --h":         "--hex",
		"get --":          "--db --hex --try_load_options --ttl",
		"--db = x get --": "--db --hex --try_load_options --ttl",
		"put --":          "--db --try_load_options",
		"get_all --max":   "--max_keys",
	} {
		words := append([]string{"sample-tool"}, strings.Fields(line)...)
		script := text + "COMP_WORDS=(" + strings.Join(words, " ") + ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_sample_tool\necho ${COMPREPLY[*]}\n"
		out, err := exec.Command(bash, "-c", script).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(out)); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}
