// Port of utilities/cassandra/cassandra_options.h.

package cassandra

import "github.com/rocksdb-go/rocksdb/options"

// CassandraOptionsName is the name of CassandraOptions to OptionsPtr.
const CassandraOptionsName = "CassandraOptions"

// CassandraOptions are those of the merge operator and the compaction filter.
type CassandraOptions struct {
	// OperandsLimit is how many operands a read collects before it merges them; 0
	// for any number. Of the merge operator alone.
	OperandsLimit int
	// GCGracePeriodInSeconds is how long deleted columns stay.
	GCGracePeriodInSeconds uint32
	// PurgeTTLOnExpiration drops expired columns; without it they stay, deleted,
	// for the grace period. It may only be set where all columns have the same
	// time to live, as older data would come back else. Of the filter alone.
	PurgeTTLOnExpiration bool
}

var gracePeriodRow = options.F("gc_grace_period_in_seconds", func(o *CassandraOptions) any { return &o.GCGracePeriodInSeconds }, 0)

var (
	filterTable = options.NewTable[CassandraOptions](CassandraOptionsName, gracePeriodRow,
		options.F("purge_ttl_on_expiration", func(o *CassandraOptions) any { return &o.PurgeTTLOnExpiration }, 0))
	mergeOperatorTable = options.NewTable[CassandraOptions](CassandraOptionsName, gracePeriodRow,
		options.F("operands_limit", func(o *CassandraOptions) any { return &o.OperandsLimit }, 0))
)

// withOptions has the options of an object that is configured by name.
type withOptions struct {
	o     CassandraOptions
	table *options.Table
}

// OptionSets has the options.
func (w *withOptions) OptionSets() []options.OptionSet {
	return []options.OptionSet{{Table: w.table, Ptr: &w.o}}
}

// OptionsPtr implements rocksdb.Configurable.
func (w *withOptions) OptionsPtr(name string) any {
	if name != CassandraOptionsName {
		return nil
	}
	return &w.o
}
