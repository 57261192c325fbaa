// Port of db_stress_tool/db_stress_test_base.cc (the secondary instance),
// no_batched_ops_stress.cc (VerifyDb and ContinuouslyVerifyDb with it).

package dbstresstool

import (
	"path/filepath"

	"github.com/rocksdb-go/rocksdb/db"
	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

// secondaryInstance follows the database under test; db is nil without
// --test_secondary.
type secondaryInstance struct {
	path string
	db   *dbimpl.DBImpl
	cfs  []*db.ColumnFamilyHandleImpl
}

// makeSecondaryPath gives the directory of the secondary instance of a database
// and makes it.
func (t *Tool) makeSecondaryPath(suffix string) (string, error) {
	fs, parent := t.rawEnv.GetFileSystem(), t.flags.SecondariesBase
	if parent == "" {
		dir, err := fs.GetTestDirectory(nil)
		if err != nil {
			return "", err
		}
		parent = filepath.Join(dir, "dbstress_secondaries")
	}
	if err := fs.CreateDirIfMissing(parent, nil); err != nil {
		return "", err
	}
	return parent + suffix, fs.CreateDirIfMissing(parent+suffix, nil)
}

// openSecondary opens it with default options of the database, and all tables
// open, so that the primary may delete them.
func (s *stressTest) openSecondary(descriptors []rocksdb.ColumnFamilyDescriptor) (err error) {
	o := rocksdb.DefaultOptions()
	o.MaxOpenFiles, o.Env = -1, s.env
	s.secondary.db, s.secondary.cfs, err = dbimpl.OpenAsSecondary(&o.DBOptions, s.dbPath, s.secondary.path, descriptors)
	if err != nil {
		return rocksdb.AppendMessage(err, "; ", "opening the secondary instance")
	}
	return nil
}

func (s *stressTest) closeSecondary() {
	sec := &s.secondary
	if sec.db == nil {
		return
	}
	s.closeHandles(sec.db, sec.cfs)
	if err := sec.db.Close(); err != nil {
		s.tool.errf("Non-ok close status of the secondary instance: %v\n", err)
		s.shared.failVerification()
	}
	sec.db, sec.cfs = nil, nil
}

// persistForSecondary puts the writes of a family where the secondary instance
// reads them. It tells whether an injected error prevented that.
func (n *nonBatchedTest) persistForSecondary(cf int) (skip bool) {
	what, err := "memtable", error(nil)
	switch {
	case n.flags.DisableWAL:
		err = n.db.FlushFamilies(nil, []rocksdb.ColumnFamilyHandle{n.cf(cf)})
	case n.flags.ManualWALFlushOneIn > 0:
		what, err = "WAL", n.db.FlushWAL(true)
	}
	switch {
	case err == nil:
		return false
	case isInjected(err) || n.dbStopped.Load():
		n.tool.printf("Skipping secondary verification because error was injected into %s flush\n", what)
	default:
		n.abort("Failed to flush primary's %s before secondary verification: %v", what, err)
	}
	return true
}

// verifySecondary compares keys of the secondary instance, once it has caught
// up: each has a value that was expected from before that until after the read.
func (n *nonBatchedTest) verifySecondary(ro *rocksdb.ReadOptions, cf int, start, end int64) {
	pre := make([]expectedValue, end-start)
	for i := range pre {
		pre[i] = n.shared.get(cf, start+int64(i))
	}
	if n.persistForSecondary(cf) {
		return
	}
	sec := &n.secondary
	if err := sec.db.TryCatchUpWithPrimary(); err != nil {
		n.abort("Secondary failed to catch up to the primary: %v", err)
		return
	}
	for i := start; i < end && !n.shared.failed(); i++ {
		value, err := n.getFrom(sec.db, ro, sec.cfs[cf], n.tool.keys.key(i))
		n.checkRead("the secondary's Get", cf, i, pre[i-start], n.shared.get(cf, i), value, err)
	}
}

// verifyWhileRunning reads the secondary instance after it has caught up: all of
// its default family, and something of each.
func (n *nonBatchedTest) verifyWhileRunning(rnd *util.Random) {
	sec := &n.secondary
	if sec.db == nil || n.flags.ContinuousVerificationInterval <= 0 {
		return
	}
	if err := sec.db.TryCatchUpWithPrimary(); err != nil {
		n.abort("TryCatchUpWithPrimary: %v", err)
		return
	}
	ro := n.verifyReadOptions()
	ro.TotalOrderSeek = true
	if _, err := n.checksum(sec.db, &ro, sec.db.DefaultColumnFamily()); err != nil {
		n.abort("Computing checksum of default cf of the secondary: %v", err)
		return
	}
	for i, h := range sec.cfs {
		key := n.tool.keys.key(int64(rnd.Next()) % n.flags.MaxKey)
		var err error
		if rnd.OneIn(3) {
			_, err = n.getFrom(sec.db, &ro, h, key)
		} else {
			err = n.scanSome(sec.db, &ro, h, key, rnd)
		}
		if err != nil && !rocksdb.IsNotFound(err) {
			n.abort("reading the secondary's %s: %v", n.names[i], err)
			return
		}
	}
}

// scanSome goes a few entries one way from an end or from key.
func (n *nonBatchedTest) scanSome(d *dbimpl.DBImpl, ro *rocksdb.ReadOptions, h *db.ColumnFamilyHandleImpl, key []byte, rnd *util.Random) error {
	it := d.NewIterator(ro, h)
	defer n.closeIterator(it)
	const seek = 2
	way, step := uint32(seek), it.Next
	if n.flags.TestBackwardScan {
		way = rnd.Uniform(4)
	}
	switch way {
	case 0:
		it.SeekToFirst()
	case 1:
		it.SeekToLast()
		step = it.Prev
	case seek:
		it.Seek(key)
	default:
		it.SeekForPrev(key)
		step = it.Prev
	}
	for i := 0; i < 5 && it.Valid(); i++ {
		step()
	}
	return it.Status()
}

// checksum is of all keys, values and columns of a family.
func (s *stressTest) checksum(d *dbimpl.DBImpl, ro *rocksdb.ReadOptions, h *db.ColumnFamilyHandleImpl) (sum uint32, err error) {
	it := d.NewIterator(ro, h)
	defer s.closeIterator(it)
	for it.SeekToFirst(); it.Valid(); it.Next() {
		sum = util.Crc32cExtend(util.Crc32cExtend(sum, it.Key()), it.Value())
		for _, c := range it.Columns() {
			sum = util.Crc32cExtend(util.Crc32cExtend(sum, c.Name), c.Value)
		}
	}
	return sum, it.Status()
}
