// Port of tools/ldb_cmd_test.cc (FileTemperatureUpdateManifest) and of
// FileTemperatureTestFS in db/db_test_util.h.

package tools_test

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// temperatureFS keeps a temperature for each table, and notes with which one
// tables are asked for. A wrong one finds nothing.
type temperatureFS struct {
	contract.FileSystemWrapper
	mu        sync.Mutex
	current   map[uint64]rocksdb.Temperature
	requested map[uint64]rocksdb.Temperature // the last one, by table
}

func tableNumber(path string) (uint64, bool) {
	p, ok := filename.ParseFileName(filepath.Base(path), "")
	return p.Number, ok && p.Type == contract.TableFile
}

func (f *temperatureFS) request(path string, o *contract.FileOptions) error {
	number, ok := tableNumber(path)
	if !ok {
		return nil
	}
	t := o.Temperature
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requested[number] = t
	if at, known := f.current[number]; known && t != rocksdb.TemperatureUnknown && t != at {
		return contract.PathNotFound("wrong temperature", path)
	}
	return nil
}

func (f *temperatureFS) of(path string) rocksdb.Temperature {
	number, _ := tableNumber(path)
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current[number]
}

type sequentialWithTemperature struct {
	contract.FSSequentialFile
	t rocksdb.Temperature
}

func (s sequentialWithTemperature) GetTemperature() rocksdb.Temperature { return s.t }

func (f *temperatureFS) NewSequentialFile(path string, o *contract.FileOptions) (contract.FSSequentialFile, error) {
	if err := f.request(path, o); err != nil {
		return nil, err
	}
	s, err := f.FileSystemWrapper.NewSequentialFile(path, o)
	if err != nil {
		return nil, err
	}
	return sequentialWithTemperature{s, f.of(path)}, nil
}

func (f *temperatureFS) NewRandomAccessFile(path string, o *contract.FileOptions) (contract.FSRandomAccessFile, error) {
	if err := f.request(path, o); err != nil {
		return nil, err
	}
	return f.FileSystemWrapper.NewRandomAccessFile(path, o)
}

func (f *temperatureFS) NewWritableFile(path string, o *contract.FileOptions) (contract.FSWritableFile, error) {
	if number, ok := tableNumber(path); ok {
		f.mu.Lock()
		f.current[number] = o.Temperature
		f.mu.Unlock()
	}
	return f.FileSystemWrapper.NewWritableFile(path, o)
}

// takeRequests gives the requests since the last call.
func (f *temperatureFS) takeRequests() map[uint64]rocksdb.Temperature {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.requested
	f.requested = map[uint64]rocksdb.Temperature{}
	return r
}

func TestLdbCmdTest_FileTemperatureUpdateManifest(t *testing.T) {
	fs := &temperatureFS{FileSystemWrapper: contract.FileSystemWrapper{FileSystem: env.DefaultFileSystem()},
		current: map[uint64]rocksdb.Temperature{}, requested: map[uint64]rocksdb.Temperature{}}
	o := rocksdb.DefaultOptions()
	o.LastLevelTemperature = rocksdb.TemperatureWarm
	o.Level0FileNumCompactionTrigger = 10
	o.CreateIfMissing = true
	o.Env = env.NewCompositeEnvWrapper(env.Default(), fs, nil)
	dir := filepath.Join(t.TempDir(), "db")
	x := open(t, dir, o)
	temperatures := []rocksdb.Temperature{rocksdb.TemperatureCold, rocksdb.TemperatureWarm, rocksdb.TemperatureHot,
		rocksdb.TemperatureWarm, rocksdb.TemperatureCold}
	want := map[uint64]rocksdb.Temperature{}
	for i, temperature := range temperatures {
		put(t, x.ColumnFamily, strconv.Itoa(i), strconv.Itoa(i))
		check(t, x.Flush(nil))
		fs.mu.Lock()
		for number, at := range fs.current {
			if at == rocksdb.TemperatureUnknown {
				fs.current[number], want[number] = temperature, temperature
			}
		}
		fs.mu.Unlock()
	}
	check(t, x.Close())
	// reads opens the database, reads all keys, and makes sure with which
	// temperature each table is opened.
	reads := func(when string, want func(number uint64) rocksdb.Temperature) {
		t.Helper()
		fs.takeRequests()
		x := open(t, dir, o)
		for i := range temperatures {
			wantGet(t, x.ColumnFamily, strconv.Itoa(i), strconv.Itoa(i))
		}
		got := fs.takeRequests()
		if len(got) != len(temperatures) {
			t.Errorf("%s: %d tables were opened", when, len(got))
		}
		for number, at := range got {
			if at != want(number) {
				t.Errorf("%s: table %d was asked for at %v, not %v", when, number, at, want(number))
			}
		}
		check(t, x.Close())
	}
	reads("before", func(uint64) rocksdb.Temperature { return rocksdb.TemperatureUnknown })
	r := wantOK(t, o, "--db="+dir, "update_manifest", "--update_temperatures")
	if r.err != "Manifest updates successful\n" {
		t.Errorf("%+v", r)
	}
	reads("after", func(number uint64) rocksdb.Temperature { return want[number] })
	// What is right already is left alone.
	r = wantOK(t, o, "--db="+dir, "update_manifest", "--update_temperatures", "--verbose")
	if !contains(r.err, "UpdateManifestForFilesState: no updates needed") {
		t.Errorf("%+v", r)
	}
	if r := runWith(t, o, "", "--db="+dir, "update_manifest"); r.code != 1 || r.err != "Failed: No action like --update_temperatures specified for update_manifest\n" {
		t.Errorf("%+v", r)
	}
}
