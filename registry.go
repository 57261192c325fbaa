// Port of the RegisterBuiltin… functions that upstream calls from its object
// registry.

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/monitoring"
	"github.com/rocksdb-go/rocksdb/table/builtin"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

func registerBuiltins() {
	builtin.RegisterDefault()
	l := registry.DefaultLibrary()
	monitoring.RegisterBuiltinStatistics(l)
}
