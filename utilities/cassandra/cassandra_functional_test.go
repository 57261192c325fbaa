// Port of utilities/cassandra/cassandra_functional_test.cc.

package cassandra_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rocksdb-go/rocksdb"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/utilities/cassandra"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

const (
	ttl         = 86400
	gracePeriod = 100
	// The kinds of test columns are masks.
	plain    int8 = 0
	deleted       = cassandra.DeletionMask
	expiring      = cassandra.ExpirationMask
)

// spec is a test column: its kind, index and time in seconds.
type spec struct {
	mask, index int8
	seconds     int64
}

func micros(seconds int64) int64 { return seconds * 1000 * 1000 }

func row(specs ...spec) []byte {
	var columns cassandra.Columns
	for _, s := range specs {
		at := micros(s.seconds)
		switch s.mask {
		case deleted:
			columns = append(columns, cassandra.NewTombstone(s.mask, s.index, int32(s.seconds), at))
		case expiring:
			columns = append(columns, cassandra.NewExpiringColumn(s.mask, s.index, at, []byte("edata"), ttl))
		default:
			columns = append(columns, cassandra.NewColumn(s.mask, s.index, at, []byte("data")))
		}
	}
	r := cassandra.NewRowValue(columns, 0)
	return r.Serialize(nil)
}

// store is a database of rows.
type store struct {
	*testing.T
	db  *rocksdb.DB
	now int64
}

func newStore(t *testing.T, purge bool) *store {
	t.Helper()
	o := rocksdb.DefaultOptions()
	o.CreateIfMissing = true
	o.MergeOperator = cassandra.NewCassandraValueMergeOperator(gracePeriod, 0)
	o.CompactionFilterFactory = cassandra.NewCassandraCompactionFilterFactory(purge, gracePeriod)
	d, err := rocksdb.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return &store{t, d, time.Now().Unix()}
}

func (s *store) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *store) append(key string, specs ...spec) {
	s.Helper()
	s.must(s.db.Merge(nil, []byte(key), row(specs...)))
}

func (s *store) flush() {
	s.Helper()
	s.must(s.db.Flush(nil))
	s.must(s.db.Impl().TestWaitForCompact())
}

func (s *store) compact() {
	s.Helper()
	s.must(s.db.Impl().TestCompactRange(0, nil, nil, nil, false))
}

func (s *store) want(key string, want ...spec) {
	s.Helper()
	v, err := s.db.Get(nil, []byte(key))
	s.must(err)
	defer v.Release()
	r, err := cassandra.DeserializeRowValue(v.Data())
	s.must(err)
	if len(r.Columns()) != len(want) {
		s.Fatalf("%d columns, not %d", len(r.Columns()), len(want))
	}
	for i, c := range r.Columns() {
		if w := want[i]; c.Mask() != w.mask || c.Index() != w.index || c.Timestamp() != micros(w.seconds) {
			s.Errorf("column %d is of mask %d, index %d, time %d; want %v", i, c.Mask(), c.Index(), c.Timestamp(), w)
		}
	}
}

func (s *store) wantNone(key string) {
	s.Helper()
	if _, err := s.db.Get(nil, []byte(key)); !errors.Is(err, rocksdb.ErrNotFound) {
		s.Errorf("%s: %v", key, err)
	}
}

func TestCassandraFunctionalTest_SimpleMergeTest(t *testing.T) {
	s := newStore(t, false)
	n := s.now
	s.append("k1", spec{deleted, 0, n + 5}, spec{plain, 1, n + 8}, spec{expiring, 2, n + 5})
	s.append("k1", spec{plain, 0, n + 2}, spec{expiring, 1, n + 5}, spec{deleted, 2, n + 7}, spec{expiring, 7, n + 17})
	s.append("k1", spec{expiring, 0, n + 6}, spec{deleted, 1, n + 5}, spec{plain, 2, n + 4}, spec{deleted, 11, n + 11})
	s.want("k1", spec{expiring, 0, n + 6}, spec{plain, 1, n + 8}, spec{deleted, 2, n + 7}, spec{expiring, 7, n + 17}, spec{deleted, 11, n + 11})
}

func TestCassandraFunctionalTest_CompactionShouldConvertExpiredColumnsToTombstone(t *testing.T) {
	s := newStore(t, false)
	n := s.now
	const rest = 600 // the test is over by then
	s.append("k1", spec{expiring, 0, n - ttl - 20}, spec{expiring, 1, n - ttl + rest}, spec{deleted, 3, n})
	s.flush()
	s.append("k1", spec{expiring, 0, n - ttl - 10}, spec{plain, 2, n})
	s.flush()
	s.compact()
	s.want("k1", spec{deleted, 0, n - 10}, spec{expiring, 1, n - ttl + rest}, spec{plain, 2, n}, spec{deleted, 3, n})
}

func TestCassandraFunctionalTest_CompactionShouldPurgeExpiredColumnsIfPurgeTtlIsOn(t *testing.T) {
	s := newStore(t, true)
	n := s.now
	s.append("k1", spec{expiring, 0, n - ttl - 20}, spec{expiring, 1, n}, spec{deleted, 3, n})
	s.flush()
	s.append("k1", spec{expiring, 0, n - ttl - 10}, spec{plain, 2, n})
	s.flush()
	s.compact()
	s.want("k1", spec{expiring, 1, n}, spec{plain, 2, n}, spec{deleted, 3, n})
}

func TestCassandraFunctionalTest_CompactionShouldRemoveRowWhenAllColumnsExpiredIfPurgeTtlIsOn(t *testing.T) {
	s := newStore(t, true)
	n := s.now
	s.append("k1", spec{expiring, 0, n - ttl - 20}, spec{expiring, 1, n - ttl - 20})
	s.flush()
	s.append("k1", spec{expiring, 0, n - ttl - 10})
	s.flush()
	s.compact()
	s.wantNone("k1")
}

func TestCassandraFunctionalTest_CompactionShouldRemoveTombstoneExceedingGCGracePeriod(t *testing.T) {
	s := newStore(t, true)
	n := s.now
	s.append("k1", spec{deleted, 0, n - gracePeriod - 1}, spec{plain, 1, n})
	s.append("k2", spec{plain, 0, n})
	s.flush()
	s.append("k1", spec{plain, 1, n})
	s.flush()
	s.compact()
	s.want("k1", spec{plain, 1, n})
}

func TestCassandraFunctionalTest_CompactionShouldRemoveTombstoneFromPut(t *testing.T) {
	s := newStore(t, true)
	s.must(s.db.Put(nil, []byte("k1"), row(spec{deleted, 0, s.now - gracePeriod - 1})))
	s.flush()
	s.compact()
	s.wantNone("k1")
}

// load makes a plug-in by its name and by an option string, once it is
// registered, and gives the options of the latter.
func load[T contract.Customizable](t *testing.T, kind, name, settings string) *cassandra.CassandraOptions {
	t.Helper()
	cfg := contract.DefaultConfigOptions()
	cfg.IgnoreUnsupportedOptions = false
	r := registry.NewInstance()
	cfg.Registry = r
	if _, err := options.CreateFromString[T](&cfg, kind, name); err == nil {
		t.Fatal("it was made before it was registered")
	}
	if n := cassandra.RegisterCassandraObjects(r.AddNewLibrary("cassandra")); n != 3 {
		t.Errorf("%d objects", n)
	}
	var last T
	for _, value := range []string{name, settings + ";id=" + name} {
		obj, err := options.CreateFromString[T](&cfg, kind, value)
		if err != nil {
			t.Fatal(err)
		}
		if obj.Name() != name {
			t.Errorf("it is %s", obj.Name())
		}
		last = obj
	}
	return any(last).(interface{ OptionsPtr(string) any }).OptionsPtr(cassandra.CassandraOptionsName).(*cassandra.CassandraOptions)
}

func TestCassandraFunctionalTest_LoadMergeOperator(t *testing.T) {
	o := load[contract.MergeOperator](t, registry.KindMergeOperator, cassandra.CassandraValueMergeOperatorName,
		"operands_limit=20;gc_grace_period_in_seconds=42")
	if o.GCGracePeriodInSeconds != 42 || o.OperandsLimit != 20 {
		t.Errorf("%+v", o)
	}
}

func TestCassandraFunctionalTest_LoadCompactionFilter(t *testing.T) {
	o := load[contract.CompactionFilter](t, registry.KindCompactionFilter, cassandra.CassandraCompactionFilterName,
		"purge_ttl_on_expiration=true;gc_grace_period_in_seconds=42")
	if o.GCGracePeriodInSeconds != 42 || !o.PurgeTTLOnExpiration {
		t.Errorf("%+v", o)
	}
}

func TestCassandraFunctionalTest_LoadCompactionFilterFactory(t *testing.T) {
	o := load[contract.CompactionFilterFactory](t, registry.KindCompactionFilterFactory, cassandra.CassandraCompactionFilterFactoryName,
		"purge_ttl_on_expiration=true;gc_grace_period_in_seconds=42")
	if o.GCGracePeriodInSeconds != 42 || !o.PurgeTTLOnExpiration {
		t.Errorf("%+v", o)
	}
}
