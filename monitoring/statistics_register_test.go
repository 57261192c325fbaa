// No upstream twin: upstream tests these in options/customizable_test.cc.

package monitoring

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func TestRegisterBuiltinStatistics(t *testing.T) {
	l := registry.NewLibrary("test")
	checkEqual(t, "registered", RegisterBuiltinStatistics(l), 1)
	made, err := l.FindFactory(registry.KindStatistics, "BasicStatistics")(nil, "BasicStatistics")
	if _, ok := made.(*StatisticsImpl); !ok || err != nil {
		t.Errorf("made %v, %v", made, err)
	}
}
