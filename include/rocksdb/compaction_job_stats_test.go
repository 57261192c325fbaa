// No upstream twin: every counter is added and reset.

package rocksdb_test

import (
	"reflect"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestCompactionJobStats(t *testing.T) {
	s, o := rocksdb.NewCompactionJobStats(), rocksdb.NewCompactionJobStats()
	sv, ov := reflect.ValueOf(&s).Elem(), reflect.ValueOf(&o).Elem()
	for i := 0; i < sv.NumField(); i++ {
		switch f := sv.Field(i); f.Kind() {
		case reflect.Uint64:
			f.SetUint(uint64(i))
			ov.Field(i).SetUint(1000)
		case reflect.Int:
			f.SetInt(int64(i))
			ov.Field(i).SetInt(1000)
		}
	}
	o.HasAccurateNumInputRecords, o.IsRemoteCompaction, o.IsFullCompaction = false, true, true
	s.SmallestOutputKeyPrefix = "a"
	s.Add(&o)
	for i := 0; i < sv.NumField(); i++ {
		name, f := sv.Type().Field(i).Name, sv.Field(i)
		if f.Kind() == reflect.Uint64 && f.Uint() != uint64(1000+i) || f.Kind() == reflect.Int && f.Int() != int64(1000+i) {
			t.Errorf("%s = %v", name, f)
		}
	}
	if s.HasAccurateNumInputRecords || !s.IsRemoteCompaction || s.IsFullCompaction || s.SmallestOutputKeyPrefix != "a" {
		t.Errorf("%+v", s)
	}
	if s.Reset(); s != rocksdb.NewCompactionJobStats() {
		t.Errorf("%+v after Reset", s)
	}
}
