// Port of db/db_impl/db_impl.cc (GetEntity, MultiGetEntity) and of
// db/db_impl/db_impl_write.cc (PutEntity). Differs: the calls without a family
// are the default one's.

package dbimpl

import (
	"slices"

	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util/stopwatch"
)

var (
	getEntityCall      = readCall{"GetEntity", "kGetEntity", readOptionsFor(rocksdb.IOActivityGetEntity)}
	multiGetEntityCall = readCall{"MultiGetEntity", "kMultiGetEntity", readOptionsFor(rocksdb.IOActivityMultiGetEntity)}
)

// PutEntity stores an entity under key; the columns may be in any order.
func (d *DBImpl) PutEntity(wo *rocksdb.WriteOptions, cf rocksdb.ColumnFamilyHandle, key []byte, columns rocksdb.WideColumns) error {
	if cf == nil {
		cf = d.defaultHandle
	}
	return d.unstamped(wo, cf, func(b *writebatch.WriteBatch) error { return b.PutEntityCF(cf, key, columns) })
}

// PutEntityAttributeGroups stores an entity that is spread over several
// families.
func (d *DBImpl) PutEntityAttributeGroups(wo *rocksdb.WriteOptions, key []byte, groups []rocksdb.AttributeGroup) error {
	for _, g := range groups {
		if err := d.failIfHasTimestamps(g.ColumnFamily); err != nil {
			return err
		}
	}
	return d.single(wo, func(b *writebatch.WriteBatch) error { return b.PutEntityAttributeGroups(key, groups) })
}

// GetEntity finds key's entity; of a plain value it is the default column
// alone. columns is reset first. The error is rocksdb.ErrNotFound when there is
// none.
func (d *DBImpl) GetEntity(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, key []byte, columns *rocksdb.PinnableWideColumns) error {
	cfd := d.cfd(cf)
	s := getScratchPool.Get().(*getScratch)
	defer getScratchPool.Put(s)
	ro, err := getEntityCall.options(ro, &s.ro)
	if err == nil {
		err = checkReadTimestamp(ro, cfd)
	}
	if err != nil {
		return err
	}
	d.traceGet(cfd, key)
	watch := stopwatch.NewStopWatch(d.clock, d.stats, rocksdb.HistDBGet)
	columns.Reset()
	sv := cfd.GetReferencedSuperVersion()
	defer sv.Release()
	seq := d.readSequence(ro)
	if err = failIfReadCollapsedHistory(ro, sv); err == nil {
		s.columns = columns
		_, err = d.getFrom(sv, ro, key, seq, nil, s)
		s.columns, s.mem.Columns = nil, nil
	}
	if err != nil {
		columns.Reset()
	}
	watch.Stop()
	return err
}

// GetEntityAttributeGroups finds key's entity in the family of each group, all
// at one state of the database. The error is one of the arguments; the groups
// have those of the lookups.
func (d *DBImpl) GetEntityAttributeGroups(ro *rocksdb.ReadOptions, key []byte, groups []rocksdb.PinnableAttributeGroup) error {
	var scratch rocksdb.ReadOptions
	ro, err := getEntityCall.options(ro, &scratch)
	if err != nil {
		for i := range groups {
			groups[i].Err = err
		}
		return err
	}
	for i := range groups {
		if groups[i].ColumnFamily != nil {
			continue
		}
		for j := range groups {
			groups[j].Err = rocksdb.Incomplete("DB not queried due to invalid argument(s) in one or more of the attribute groups")
		}
		groups[i].Err = rocksdb.InvalidArgument("Column family handle cannot be null")
		return rocksdb.InvalidArgument("DB failed to query because one or more group(s) have null column family handle")
	}
	d.attributeGroups(&getEntityCall, ro, [][]byte{key}, [][]rocksdb.PinnableAttributeGroup{groups})
	return nil
}

// MultiGetEntity is GetEntity for each key of one family at one state of the
// database; results and errs have keys' length.
func (d *DBImpl) MultiGetEntity(ro *rocksdb.ReadOptions, cf rocksdb.ColumnFamilyHandle, keys [][]byte, results []rocksdb.PinnableWideColumns, errs []error) {
	d.multiGetOne(&multiGetEntityCall, ro, cf, keys, nil, results, nil, errs)
}

// MultiGetEntityCF is MultiGetEntity with a family for each key.
func (d *DBImpl) MultiGetEntityCF(ro *rocksdb.ReadOptions, cfs []rocksdb.ColumnFamilyHandle, keys [][]byte, results []rocksdb.PinnableWideColumns, errs []error) {
	d.multiGetMany(&multiGetEntityCall, ro, cfs, keys, nil, results, nil, errs)
}

// MultiGetEntityAttributeGroups is GetEntityAttributeGroups for each key, with
// groups of its own.
func (d *DBImpl) MultiGetEntityAttributeGroups(ro *rocksdb.ReadOptions, keys [][]byte, groups [][]rocksdb.PinnableAttributeGroup) {
	var scratch rocksdb.ReadOptions
	ro, err := multiGetEntityCall.options(ro, &scratch)
	if err != nil {
		for i := range keys {
			for j := range groups[i] {
				groups[i][j].Err = err
			}
		}
		return
	}
	d.attributeGroups(&multiGetEntityCall, ro, keys, groups)
}

func (d *DBImpl) attributeGroups(call *readCall, ro *rocksdb.ReadOptions, keys [][]byte, groups [][]rocksdb.PinnableAttributeGroup) {
	var (
		cfs []rocksdb.ColumnFamilyHandle
		all [][]byte
	)
	for i := range keys {
		for j := range groups[i] {
			cfs, all = append(cfs, groups[i][j].ColumnFamily), append(all, keys[i])
		}
	}
	if len(all) == 0 || nullFamily(groups[:len(keys)]) {
		return
	}
	columns, errs := make([]rocksdb.PinnableWideColumns, len(all)), make([]error, len(all))
	d.multiGetMany(call, ro, cfs, all, nil, columns, nil, errs)
	n := 0
	for i := range keys {
		for j := range groups[i] {
			g := &groups[i][j]
			g.Columns.Reset()
			g.Columns, g.Err = columns[n], errs[n]
			n++
		}
	}
}

// nullFamily tells whether a group has no family; then all have errors.
func nullFamily(groups [][]rocksdb.PinnableAttributeGroup) bool {
	is := func(g rocksdb.PinnableAttributeGroup) bool { return g.ColumnFamily == nil }
	if !slices.ContainsFunc(groups, func(l []rocksdb.PinnableAttributeGroup) bool { return slices.ContainsFunc(l, is) }) {
		return false
	}
	for _, l := range groups {
		for j := range l {
			if is(l[j]) {
				l[j].Err = rocksdb.InvalidArgument("Column family handle cannot be null")
			} else {
				l[j].Err = rocksdb.Incomplete("DB not queried due to invalid argument(s) in the same MultiGet call")
			}
		}
	}
	return true
}
