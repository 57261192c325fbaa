// Port of db_stress_tool/db_stress_test_base.cc (TestCompactFiles,
// TestCheckpoint, TestApproximateSize).

package dbstresstool

import (
	"fmt"
	"sync"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/checkpoint"
)

// compactFiles compacts up to three files beside each other.
func (s *stressTest) compactFiles(t *threadState, cf int) {
	levels := s.db.GetColumnFamilyMetaData(s.cf(cf), nil).Levels
	for range 3 {
		if len(levels) == 0 {
			return
		}
		level := int(t.rand.Uniform(len(levels)))
		files := levels[level].Files
		if len(files) == 0 {
			continue
		}
		at := int(t.rand.Uniform(len(files)))
		if files[at].BeingCompacted {
			continue
		}
		var inputs []string
		for _, i := range []int{at, at - 1, at + 1} {
			if i >= 0 && i < len(files) && !files[i].BeingCompacted {
				inputs = append(inputs, files[i].Name)
			}
		}
		o := rocksdb.DefaultCompactionOptions()
		if t.rand.OneIn(2) {
			o.OutputFileSizeLimit = uint64(s.flags.TargetFileSizeBase)
		}
		_, err := s.db.CompactFiles(&o, s.cf(cf), inputs, min(level+1, len(levels)-1), -1, nil)
		if err == nil {
			t.stats.compactOK++
			return
		}
		t.stats.compactFailed++
		if !isTolerableCompactionFailure(err) && !s.dbStopped.Load() {
			s.tool.terminate("Unable to perform CompactFiles(): %v under specified CompactionOptions: %+v", err, o)
		}
		return
	}
}

// lockKeys locks a key in families, where operations lock theirs.
func (s *stressTest) lockKeys(t *threadState, cfs []int, key int64) (unlock func()) {
	if !s.mode.stateTracked() {
		return func() {}
	}
	held := make([]*sync.Mutex, len(cfs))
	for i, cf := range cfs {
		held[i] = t.shared.keyLock(cf, key)
		held[i].Lock()
	}
	return func() {
		for _, l := range held {
			l.Unlock()
		}
	}
}

// checkpoint makes a copy of the database, opens it and looks for a key there.
// The copy stays where something is wrong.
func (s *stressTest) checkpoint(t *threadState, cfs []int, key int64) (err error) {
	defer s.lockKeys(t, cfs, key)()
	dir := fmt.Sprintf("%s/.checkpoint%d", s.dbPath, t.tid)
	for _, left := range []string{dir, dir + ".tmp"} {
		if err := s.tool.destroyDB(left); err != nil {
			return err
		}
	}
	if _, err = checkpoint.New(s.db).CreateCheckpoint(dir, 0); err == nil && s.flags.ClearColumnFamilyOneIn == 0 {
		err = s.checkCopy(t, "checkpoint "+dir, dir, cfs, key)
	}
	if err == nil || isInjected(err) {
		if derr := s.tool.destroyDB(dir); err == nil {
			err = derr
		}
	}
	return err
}

// checkCopy opens a copy of the database to read only and compares one key with
// what is expected.
func (s *stressTest) checkCopy(t *threadState, what, dir string, cfs []int, key int64) (err error) {
	o := s.options
	o.BestEffortsRecovery, o.Listeners, o.SstFileManager = false, nil, nil
	descriptors := make([]rocksdb.ColumnFamilyDescriptor, len(s.names))
	for i, name := range s.names {
		descriptors[i] = rocksdb.ColumnFamilyDescriptor{Name: name, Options: o.ColumnFamilyOptions}
	}
	d, handles, err := dbimpl.OpenForReadOnly(&o.DBOptions, dir, descriptors, false)
	if err != nil {
		return err
	}
	defer func() {
		for _, h := range handles {
			if cerr := d.DestroyColumnFamilyHandle(h); err == nil {
				err = cerr
			}
		}
		if cerr := d.Close(); err == nil {
			err = cerr
		}
	}()
	k := s.tool.keys.key(key)
	for _, cf := range cfs {
		ro := rocksdb.DefaultReadOptions()
		ro.Timestamp = s.flags.now()
		var v rocksdb.PinnableSlice
		err := d.Get(&ro, handles[cf], k, &v)
		v.Release()
		if err != nil && !rocksdb.IsNotFound(err) {
			return err
		}
		if !s.mode.stateTracked() || s.flags.SkipVerifydb {
			continue
		}
		if exists := t.shared.exists(cf, key); exists && err != nil {
			return rocksdb.Corruption(fmt.Sprintf("0x%X exists in original db but not in %s", k, what))
		} else if !exists && err == nil {
			return rocksdb.Corruption(fmt.Sprintf("0x%X exists in %s but not in original db", k, what))
		}
	}
	return nil
}

// approximateSize asks for the size of a range, or for what memtables have of
// it.
func (s *stressTest) approximateSize(t *threadState, cf int, key int64, i uint64) error {
	from, to := key, key
	if t.rand.OneIn(2) {
		other := s.generateOneKey(t, i)
		from, to = min(from, other), max(from, other)
	} else {
		to += int64(t.rand.Uniform(1000))
	}
	r := rocksdb.Range{Start: s.tool.keys.key(from), Limit: s.tool.keys.key(to)}
	if t.rand.OneIn(3) {
		s.db.GetApproximateMemTableStats(s.cf(cf), r)
		return nil
	}
	o := rocksdb.DefaultSizeApproximationOptions()
	o.IncludeMemtables, o.IncludeBlobFiles = t.rand.OneIn(2), t.rand.OneIn(2)
	if o.IncludeMemtables || o.IncludeBlobFiles {
		o.IncludeFiles = t.rand.OneIn(2)
	}
	if t.rand.OneIn(2) {
		o.FilesSizeErrorMargin = 0
		if t.rand.OneIn(2) {
			o.FilesSizeErrorMargin = float64(t.rand.Uniform(3))
		}
	}
	var size [1]uint64
	return s.db.GetApproximateSizes(&o, s.cf(cf), []rocksdb.Range{r}, size[:])
}
