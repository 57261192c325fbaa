// Port of db/db_impl/db_impl_write.cc (IngestWriteBatchWithIndex,
// IngestWBWIAsMemtable). Differs: it is no write of a group but has the queues to
// itself; what would fail is refused before anything is done; the memtables come
// in, and the batch becomes visible, at once.

package dbimpl

import (
	"maps"
	"slices"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/memtable/wbwi"
	"github.com/rocksdb-go/rocksdb/monitoring"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	writebatchwithindex "github.com/rocksdb-go/rocksdb/utilities/write_batch_with_index"
)

// IngestWriteBatchWithIndex applies b atomically: instead of being inserted, its
// entries become an immutable memtable of each family, whose flush is asked for. b
// must have been made with Options.OverwriteKey and not be changed any more;
// wo.DisableWAL has to be set. Pipelined and unordered writes, and families with
// timestamps, are NotSupported.
func (d *DBImpl) IngestWriteBatchWithIndex(wo *rocksdb.WriteOptions, b *writebatchwithindex.WriteBatchWithIndex) error {
	wo = orDefault(wo)
	switch {
	case d.readOnly:
		return d.readOnlyError()
	case b == nil:
		return rocksdb.InvalidArgument("Batch is nullptr!")
	case !wo.DisableWAL:
		return rocksdb.NotSupported("IngestWriteBatchWithIndex wants WriteOptions.DisableWAL")
	case d.immutable.UnorderedWrite:
		return rocksdb.NotSupported("Ingesting WriteBatch does not support unordered_write")
	case d.immutable.EnablePipelinedWrite:
		return rocksdb.NotSupported("Ingesting WriteBatch does not support pipelined_write")
	case !b.GetOverwriteKey():
		return rocksdb.NotSupported("WriteBatchWithIndex ingestion requires overwrite_key=true")
	}
	batch := b.GetWriteBatch()
	d.traceWrite(batch)
	if err := d.checkWriteOptions(wo, batch, nil); err != nil {
		return err
	}
	if wo.ProtectionBytesPerKey > 0 {
		if err := batch.UpdateProtectionInfo(wo.ProtectionBytesPerKey); err != nil {
			return err
		}
	}
	s := writeScratchPool.Get().(*writeScratch)
	defer writeScratchPool.Put(s)
	if wo.LowPri && d.writeCtl.NeedSpeedupCompaction() {
		if err := d.throttleLowPri(wo, batch, &s.perf); err != nil {
			return err
		}
	}
	if batch.Count() == 0 {
		return nil
	}
	w := &s.writer
	w.Reset(wo, nil)
	d.mu.Lock()
	d.writeThread.EnterUnbatched(w, &d.mu)
	d.mu.Unlock()
	ctx := writeContext{perf: &s.perf}
	noSync := false
	err := d.preprocessWrite(wo, &noSync, &ctx)
	if err == nil {
		err = d.withWritesHeld(func() error { return d.ingestBatchLocked(wo, b, &ctx) })
	}
	d.writeThread.ExitUnbatched(w)
	ctx.clean()
	return err
}

// ingestedFamily is a family that gets a memtable of a batch.
type ingestedFamily struct {
	cfd  *db.ColumnFamilyData
	stat writebatchwithindex.CFStat
}

// familiesOfBatchLocked are b's families.
func (d *DBImpl) familiesOfBatchLocked(wo *rocksdb.WriteOptions, b *writebatchwithindex.WriteBatchWithIndex) ([]ingestedFamily, error) {
	v := db.BatchValidator{Families: d.families, IgnoreMissing: wo.IgnoreMissingColumnFamilies}
	if err := b.GetWriteBatch().Iterate(&v); err != nil {
		return nil, err
	}
	stats := b.GetCFStats()
	var families []ingestedFamily
	for _, id := range slices.Sorted(maps.Keys(stats)) {
		cfd := d.families.GetColumnFamily(id)
		switch {
		case cfd == nil: // the validator let it pass
			continue
		case cfd.UserComparator().TimestampSize() > 0:
			return nil, rocksdb.NotSupported("IngestWriteBatchWithIndex into column family " + cfd.GetName() + ", which has timestamps")
		}
		families = append(families, ingestedFamily{cfd, stats[id]})
	}
	return families, nil
}

// ingestBatchLocked switches the memtables of b's families, and of all with atomic
// flush, and puts b's behind the new ones.
func (d *DBImpl) ingestBatchLocked(wo *rocksdb.WriteOptions, b *writebatchwithindex.WriteBatchWithIndex, ctx *writeContext) error {
	families, err := d.familiesOfBatchLocked(wo, b)
	if err != nil || len(families) == 0 {
		return err
	}
	var cfds []*db.ColumnFamilyData
	for _, f := range families {
		cfds = append(cfds, f.cfd)
	}
	if d.immutable.AtomicFlush {
		for _, cfd := range d.selectForAtomicFlushLocked(nil, rocksdb.FlushReasonExternalFileIngestion) {
			if !slices.Contains(cfds, cfd) {
				cfds = append(cfds, cfd)
			}
		}
	}
	for _, cfd := range cfds {
		cfd.Ref()
	}
	defer func() {
		for _, cfd := range cfds {
			cfd.UnrefLocked(&ctx.sv.MemtablesToFree)
		}
	}()
	for _, cfd := range cfds {
		if err := d.switchMemtableLocked(cfd, ctx); err != nil {
			return err
		}
	}
	d.traceInOrder(func(t *tracereplay.Tracer) {
		_ = t.Write(b.GetWriteBatch().Data()) // a trace that fails does not fail the write
	})
	d.installBatchLocked(families, b, ctx)
	if d.immutable.AtomicFlush {
		d.scheduleAtomicFlushLocked(cfds, rocksdb.FlushReasonExternalFileIngestion)
		return nil
	}
	for _, cfd := range cfds {
		cfd.Imm().FlushRequested()
		d.enqueueFlushLocked(flushOfOne(cfd, rocksdb.FlushReasonExternalFileIngestion))
	}
	d.maybeScheduleLocked()
	return nil
}

// installBatchLocked gives b its sequence numbers, its memtables to the families,
// and makes it visible. The mutex is not released: a flush that took a memtable
// before the numbers are in force would not know of snapshots taken meanwhile.
func (d *DBImpl) installBatchLocked(families []ingestedFamily, b *writebatchwithindex.WriteBatchWithIndex, ctx *writeContext) {
	d.hasUnpersistedData.Store(true)
	count := uint64(b.GetWriteBatch().Count())
	last := d.versions.LastSequence()
	if d.immutable.TwoWriteQueues {
		last = d.versions.FetchAddLastAllocatedSequence(count)
	}
	seqnos := wbwi.SeqnoRange{LowerBound: last + 1, UpperBound: last + count}
	for _, f := range families {
		cfd := f.cfd
		m := wbwi.NewMemTable(b, cfd.GetID(), f.stat, seqnos, cfd.InternalComparator(), cfd.IOptions(), cfd.GetLatestMutableCFOptions())
		m.Ref()
		m.SetNextLogNumber(d.logNumber.Load()) // the log is empty
		cfd.AddImmutableMemtable(m, &ctx.sv.MemtablesToFree)
		cfd.Mem().SetEarliestSequenceNumber(seqnos.UpperBound)
		cfd.Mem().SetCreationSeq(seqnos.UpperBound)
		d.installSuperVersionAndScheduleLocked(cfd, &ctx.sv)
	}
	monitoring.RecordTick(d.stats, rocksdb.NumberWBWIIngest, 1)
	d.versions.SetLastSequence(seqnos.UpperBound)
}
