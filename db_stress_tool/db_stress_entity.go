// Port of db_stress_tool/no_batched_ops_stress.cc, cf_consistency_stress.cc and
// batched_ops_stress.cc (TestGetEntity, TestMultiGetEntity).

package dbstresstool

import (
	"bytes"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// entity is what a read gave of a key in a family.
type entity struct {
	columns rocksdb.WideColumns
	err     error
}

func (e *entity) found() bool { return e.err == nil }
func (e *entity) known() bool { return e.err == nil || rocksdb.IsNotFound(e.err) }

func (e *entity) equal(o *entity) bool {
	return e.known() && o.known() && e.found() == o.found() && slices.EqualFunc(e.columns, o.columns, func(a, b rocksdb.WideColumn) bool {
		return bytes.Equal(a.Name, b.Name) && bytes.Equal(a.Value, b.Value)
	})
}

// takeEntity copies the columns and lets what holds them go.
func takeEntity(p *rocksdb.PinnableWideColumns, err error) (e entity) {
	e.err = err
	if err == nil {
		for _, c := range p.Columns() {
			e.columns = append(e.columns, rocksdb.WideColumn{Name: bytes.Clone(c.Name), Value: bytes.Clone(c.Value)})
		}
	}
	p.Reset()
	return e
}

// getEntity reads a key by GetEntity, or as the only one of its attribute groups.
func (s *stressTest) getEntity(ro *rocksdb.ReadOptions, cf int, key []byte) entity {
	if s.flags.UseAttributeGroup {
		return s.getEntityGroups(ro, []int{cf}, key)[0]
	}
	var p rocksdb.PinnableWideColumns
	err := s.db.GetEntity(ro, s.cf(cf), key, &p)
	return takeEntity(&p, err)
}

// getEntityGroups reads a key of several families at once.
func (s *stressTest) getEntityGroups(ro *rocksdb.ReadOptions, cfs []int, key []byte) []entity {
	groups := s.attributeGroups(cfs)
	_ = s.db.GetEntityAttributeGroups(ro, key, groups) // the groups have the error, too
	return takeGroups(groups)
}

func (s *stressTest) attributeGroups(cfs []int) []rocksdb.PinnableAttributeGroup {
	groups := make([]rocksdb.PinnableAttributeGroup, len(cfs))
	for i, cf := range cfs {
		groups[i].ColumnFamily = s.cf(cf)
	}
	return groups
}

func takeGroups(groups []rocksdb.PinnableAttributeGroup) []entity {
	all := make([]entity, len(groups))
	for i := range groups {
		all[i] = takeEntity(&groups[i].Columns, groups[i].Err)
	}
	return all
}

// multiGetEntity reads keys of one family.
func (s *stressTest) multiGetEntity(ro *rocksdb.ReadOptions, cf int, keys [][]byte) []entity {
	all := make([]entity, len(keys))
	if s.flags.UseAttributeGroup {
		groups := make([][]rocksdb.PinnableAttributeGroup, len(keys))
		for i := range groups {
			groups[i] = s.attributeGroups([]int{cf})
		}
		s.db.MultiGetEntityAttributeGroups(ro, keys, groups)
		for i := range groups {
			all[i] = takeGroups(groups[i])[0]
		}
		return all
	}
	results, errs := make([]rocksdb.PinnableWideColumns, len(keys)), make([]error, len(keys))
	s.db.MultiGetEntity(ro, s.cf(cf), keys, results, errs)
	for i := range results {
		all[i] = takeEntity(&results[i], errs[i])
	}
	return all
}

// addEntity adds the entity of a number to a batch.
func (s *stressTest) addEntity(b *writebatch.WriteBatch, cf rocksdb.ColumnFamilyHandle, key []byte, base uint32, value []byte) error {
	columns := generateWideColumns(base, value)
	if s.flags.UseAttributeGroup {
		return b.PutEntityAttributeGroups(key, []rocksdb.AttributeGroup{{ColumnFamily: cf, Columns: columns}})
	}
	return b.PutEntityCF(cf, key, columns)
}

// countEntity checks the columns of what was read for themselves. It tells
// whether the read succeeded, of a key that is there or not.
func (s *stressTest) countEntity(t *threadState, what string, key []byte, e *entity) bool {
	if !e.known() {
		if !isInjected(e.err) {
			t.stats.errors++
			s.abort("%s error for key %X: %v", what, key, e.err)
		}
		return false
	}
	t.stats.addGets(e.found())
	if e.found() && !s.flags.verifyWideColumns(defaultColumn(e.columns), e.columns) {
		t.stats.errors++
		s.abort("%s: inconsistent columns for key %X, entity %X", what, key, e.columns)
		return false
	}
	return true
}

func (n *nonBatchedTest) getEntity(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	cf, key := cfs[0], keys[0]
	k := n.tool.keys.key(key)
	ro, pre := *base, t.shared.get(cf, key)
	old := n.stampLookup(t, &ro)
	e := n.stressTest.getEntity(&ro, cf, k)
	post := t.shared.get(cf, key)
	if n.countEntity(t, "GetEntity", k, &e) && !old {
		n.checkRead("GetEntity()", cf, key, pre, post, defaultColumn(e.columns), e.err)
	}
}

// multiGetEntity compares with GetEntity of the same snapshot.
func (n *nonBatchedTest) multiGetEntity(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	snap := n.db.GetSnapshot()
	defer n.releaseSnapshot(snap)
	ro := *base
	ro.Snapshot = snap
	n.stampLookup(t, &ro)
	encoded := make([][]byte, len(keys))
	for i, k := range keys {
		encoded[i] = n.tool.keys.key(k)
	}
	quiet := ro
	quiet.IOStatsContext = nil // nothing is injected
	for i, e := range n.stressTest.multiGetEntity(&ro, cfs[0], encoded) {
		if !n.countEntity(t, "MultiGetEntity", encoded[i], &e) || !n.flags.CheckMultigetEntityConsistency {
			continue
		}
		if want := n.stressTest.getEntity(&quiet, cfs[0], encoded[i]); !e.equal(&want) {
			t.stats.errors++
			n.abort("inconsistent results for key %X at snapshot %d: MultiGetEntity: %X, %v. GetEntity: %X, %v", encoded[i], snap.GetSequenceNumber(), e.columns, e.err, want.columns, want.err)
			return
		}
	}
}

// getEntity reads of one family, or compares all.
func (c *cfConsistencyTest) getEntity(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	k, ro := c.tool.keys.key(keys[0]), *base
	if t.rand.OneIn(2) {
		e := c.stressTest.getEntity(&ro, cfs[t.rand.Uniform(len(cfs))], k)
		c.countEntity(t, "GetEntity", k, &e)
		return
	}
	snap := c.db.GetSnapshot()
	defer c.releaseSnapshot(snap)
	ro.Snapshot = snap
	first := c.stressTest.getEntity(&ro, cfs[0], k)
	if !c.countEntity(t, "GetEntity", k, &first) {
		return
	}
	ro.IOStatsContext = nil // nothing is injected
	var others []entity
	if c.flags.UseAttributeGroup {
		others = c.getEntityGroups(&ro, cfs[1:], k)
	} else {
		for _, cf := range cfs[1:] {
			others = append(others, c.stressTest.getEntity(&ro, cf, k))
		}
	}
	c.sameEntities(t, "GetEntity", k, &first, others)
}

func (c *cfConsistencyTest) sameEntities(t *threadState, what string, key []byte, first *entity, others []entity) bool {
	for i := range others {
		if e := &others[i]; !first.equal(e) && !isInjected(e.err) {
			t.stats.errors++
			c.abort("%s returns different results for key %X: CF %s: %X, %v. CF %s: %X, %v", what, key, c.names[0], first.columns, first.err, c.names[i+1], e.columns, e.err)
			return false
		}
	}
	return true
}

// multiGetEntity reads each key of all families and compares.
func (c *cfConsistencyTest) multiGetEntity(t *threadState, base *rocksdb.ReadOptions, cfs []int, keys []int64) {
	snap := c.db.GetSnapshot()
	defer c.releaseSnapshot(snap)
	ro := *base
	ro.Snapshot = snap
	for _, key := range keys {
		k := c.tool.keys.key(key)
		all := c.multiGetEntityCF(&ro, cfs, k)
		if c.countEntity(t, "MultiGetEntity", k, &all[0]) && !c.sameEntities(t, "MultiGetEntity", k, &all[0], all[1:]) {
			return
		}
	}
}

func (c *cfConsistencyTest) multiGetEntityCF(ro *rocksdb.ReadOptions, cfs []int, key []byte) []entity {
	if c.flags.UseAttributeGroup {
		groups := [][]rocksdb.PinnableAttributeGroup{c.attributeGroups(cfs)}
		c.db.MultiGetEntityAttributeGroups(ro, [][]byte{key}, groups)
		return takeGroups(groups[0])
	}
	handles, keys := make([]rocksdb.ColumnFamilyHandle, len(cfs)), make([][]byte, len(cfs))
	for i, cf := range cfs {
		handles[i], keys[i] = c.cf(cf), key
	}
	results, errs, all := make([]rocksdb.PinnableWideColumns, len(cfs)), make([]error, len(cfs)), make([]entity, len(cfs))
	c.db.MultiGetEntityCF(ro, handles, keys, results, errs)
	for i := range all {
		all[i] = takeEntity(&results[i], errs[i])
	}
	return all
}

func (b *batchedOpsTest) getEntity(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64) {
	b.entities(t, ro, "GetEntity", keys[0], func(ro *rocksdb.ReadOptions, ten [][]byte) []entity {
		all := make([]entity, len(ten))
		for i, k := range ten {
			all[i] = b.stressTest.getEntity(ro, cfs[0], k)
		}
		return all
	})
}

func (b *batchedOpsTest) multiGetEntity(t *threadState, ro *rocksdb.ReadOptions, cfs []int, keys []int64) {
	for _, key := range keys {
		b.entities(t, ro, "MultiGetEntity", key, func(ro *rocksdb.ReadOptions, ten [][]byte) []entity {
			return b.stressTest.multiGetEntity(ro, cfs[0], ten)
		})
	}
}

// entities reads the ten entities of a key at one snapshot and compares.
func (b *batchedOpsTest) entities(t *threadState, base *rocksdb.ReadOptions, what string, key int64, read func(*rocksdb.ReadOptions, [][]byte) []entity) {
	snap := b.db.GetSnapshot()
	defer b.releaseSnapshot(snap)
	ro := *base
	ro.Snapshot = snap
	ten, values := make([][]byte, batchKeys), make([][]byte, batchKeys)
	for i := range ten {
		ten[i] = b.key(i, key)
	}
	for i, e := range read(&ro, ten) {
		if !b.countEntity(t, what, ten[i], &e) {
			return
		}
		values[i] = defaultColumn(e.columns)
	}
	b.agree(what, key, values)
}
