// No upstream twin: upstream tests these in options/customizable_test.cc.

package monitoring

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func TestCreateStatisticsFromString(t *testing.T) {
	for _, id := range []string{"", "BasicStatistics"} {
		s, err := CreateStatisticsFromString(nil, id)
		if err != nil {
			t.Fatal(err)
		}
		checkEqual(t, "name", s.Name(), "BasicStatistics")
	}
	if s, err := CreateStatisticsFromString(nil, "nullptr"); s != nil || err != nil {
		t.Errorf("nullptr is %v, %v", s, err)
	}
	if s, err := CreateStatisticsFromString(nil, "NoSuchStatistics"); err == nil {
		t.Errorf("an unknown name is %v", s)
	}
	l := registry.NewLibrary("test")
	checkEqual(t, "registered", RegisterBuiltinStatistics(l), 1)
	made, err := l.FindFactory(registry.KindStatistics, "BasicStatistics")(nil, "BasicStatistics")
	if _, ok := made.(*StatisticsImpl); !ok || err != nil {
		t.Errorf("made %v, %v", made, err)
	}
}
