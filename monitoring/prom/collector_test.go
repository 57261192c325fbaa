// No upstream twin.

package prom_test

import (
	"encoding/json"
	"expvar"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/rocksdb-go/rocksdb"
	inc "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/monitoring/prom"
)

func open(dir string) (*rocksdb.DB, prom.Source, error) {
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.Statistics = rocksdb.NewStatistics()
	db, err := rocksdb.Open(dir, o)
	if err != nil {
		return nil, prom.Source{}, err
	}
	return db, prom.Source{Statistics: o.Statistics, Families: map[string]prom.PropertySource{"default": db}, Labels: prometheus.Labels{"db": "test"}}, nil
}

func TestCollector(t *testing.T) {
	db, source, err := open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for i := range 10 {
		if err := db.Put(nil, fmt.Appendf(nil, "key%d", i), []byte("value")); err != nil {
			t.Fatal(err)
		}
	}
	c := prom.NewCollector(source)
	problems, err := testutil.CollectAndLint(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if got, want := testutil.CollectAndCount(c), int(inc.TickerEnumMax)+int(inc.HistogramEnumMax)+len(prom.Properties); got > want || got < want-3 {
		t.Errorf("%d metrics, want about %d", got, want)
	}
	want := `
# HELP rocksdb_number_keys_written_total Ticker rocksdb.number.keys.written.
# TYPE rocksdb_number_keys_written_total counter
rocksdb_number_keys_written_total{db="test"} 10
# HELP rocksdb_estimate_num_keys Property rocksdb.estimate-num-keys.
# TYPE rocksdb_estimate_num_keys gauge
rocksdb_estimate_num_keys{column_family="default",db="test"} 10
`
	if err := testutil.CollectAndCompare(c, strings.NewReader(want), "rocksdb_number_keys_written_total", "rocksdb_estimate_num_keys"); err != nil {
		t.Error(err)
	}
}

func TestExpvar(t *testing.T) {
	db, source, err := open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.Put(nil, []byte("k"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("rocksdb_test_%p", db) // a name can be given once a process
	prom.PublishExpvar(name, source)
	var got struct {
		Tickers    map[string]uint64
		Properties map[string]map[string]uint64
	}
	if err := json.Unmarshal([]byte(expvar.Get(name).String()), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tickers["rocksdb.number.keys.written"] != 1 || got.Properties["default"]["rocksdb.estimate-num-keys"] != 1 {
		t.Errorf("%+v", got)
	}
}

func ExampleNewCollector() {
	dir, err := os.MkdirTemp("", "prom")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	db, source, err := open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	registry := prometheus.NewRegistry()
	registry.MustRegister(prom.NewCollector(source))
	families, err := registry.Gather()
	fmt.Println(len(families) > 300, err)
	// Output: true <nil>
}
