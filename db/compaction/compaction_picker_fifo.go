// Port of db/compaction/compaction_picker_fifo.{h,cc}.

package compaction

import (
	"fmt"
	"slices"

	"github.com/rocksdb-go/rocksdb/db/dbformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
)

// minTierBoundary is the least size, in bytes, that small files are merged to.
const minTierBoundary = 10 * 1024

// FIFOCompactionPicker is the picker of FIFO compaction: it drops the oldest
// files and merges small ones.
type FIFOCompactionPicker struct{ CompactionPicker }

// NewFIFOCompactionPicker makes one.
func NewFIFOCompactionPicker(io *options.ImmutableOptions, icmp *dbformat.InternalKeyComparator) *FIFOCompactionPicker {
	return &FIFOCompactionPicker{newCompactionPicker(io, icmp)}
}

// NeedsCompaction tells whether level 0's score is 1 or more.
func (p *FIFOCompactionPicker) NeedsCompaction(vs *version.StorageInfo) bool {
	return vs.CompactionScore(0) >= 1
}

// PickCompaction drops files past their TTL, or the oldest when there is too
// much; else it merges small files, or moves one to its age's temperature.
func (p *FIFOCompactionPicker) PickCompaction(cfName string, mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	_ []rocksdb.SequenceNumber, _ dbformat.SnapshotChecker, vs *version.StorageInfo, _ bool) *Compaction {
	var c *Compaction
	if mo.TTL > 0 {
		c = p.pickTTLCompaction(cfName, mo, mdb, vs)
	}
	if c == nil {
		c = p.pickSizeCompaction(cfName, mo, mdb, vs)
	}
	if c == nil {
		c = p.pickIntraL0Compaction(cfName, mo, mdb, vs)
	}
	if c == nil {
		c = p.pickTemperatureChangeCompaction(cfName, mo, mdb, vs)
	}
	if c == nil {
		p.log("[%s] FIFO compaction: no compaction picked", cfName)
	}
	p.RegisterCompaction(c)
	return c
}

// CompactRange is PickCompaction: ranges mean nothing here.
func (p *FIFOCompactionPicker) CompactRange(cfName string, mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	vs *version.StorageInfo, _ ManualRange) (c *Compaction, compactionEnd dbformat.InternalKey, conflict bool) {
	return p.PickCompaction(cfName, mo, mdb, nil, nil, vs, false), nil, false
}

func (p *FIFOCompactionPicker) newCompaction(mo *options.MutableCFOptions, mdb *options.MutableDBOptions, vs *version.StorageInfo,
	level int, files []*version.FileMetaData, reason rocksdb.CompactionReason, set func(*Params)) *Compaction {
	params := DefaultParams()
	params.Inputs = []CompactionInputFiles{{Level: level, Files: files}}
	params.OutputLevel = level
	params.Compression = rocksdb.NoCompression
	params.CompressionOpts = mo.CompressionOpts
	params.Reason = reason
	params.Score = vs.CompactionScore(0)
	if set != nil {
		set(&params)
	}
	return NewCompaction(vs, p.io, mo, mdb, params)
}

// busy tells, and logs, that a compaction runs: one at a time is enough.
func (p *FIFOCompactionPicker) busy(cfName string) bool {
	if len(p.level0) == 0 {
		return false
	}
	p.log("[%s] FIFO compaction: Already executing compaction. No need to run parallel compactions since compactions are very fast", cfName)
	return true
}

// now is the time in seconds; without it there are no compactions by basis.
func (p *FIFOCompactionPicker) now(cfName, basis string) (uint64, bool) {
	t, err := p.io.Clock.GetCurrentTime()
	if err != nil {
		p.log("[%s] FIFO compaction: Couldn't get current time: %s. Not doing compactions based on %s. ", cfName, err.Error(), basis)
		return 0, false
	}
	return uint64(t), true
}

func pinnedCreationTime(f *version.FileMetaData) (t uint64, known bool) {
	if r := f.FD.PinnedReader(); r != nil {
		if tp := r.GetTableProperties(); tp != nil {
			return tp.CreationTime, true
		}
	}
	return 0, false
}

func estimatedNewestKeyTime(f *version.FileMetaData, creationTime uint64) uint64 {
	if t := f.TryGetNewestKeyTime(nil); t != version.UnknownNewestKeyTime {
		return t
	}
	return creationTime
}

// pickTTLCompaction drops files older than the TTL, if that makes the rest fit.
func (p *FIFOCompactionPicker) pickTTLCompaction(cfName string, mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	vs *version.StorageInfo) *Compaction {
	files := vs.LevelFiles(0)
	now, ok := p.now(cfName, "TTL")
	if !ok || p.busy(cfName) {
		return nil
	}
	var drop []*version.FileMetaData
	left := version.TotalFileSize(files)
	if now > mo.TTL {
		for _, f := range slices.Backward(files) {
			if created, ok := pinnedCreationTime(f); ok {
				t := estimatedNewestKeyTime(f, created)
				if t == version.UnknownNewestKeyTime || t >= now-mo.TTL {
					break
				}
			}
			left -= f.FD.GetFileSize()
			drop = append(drop, f)
		}
	}
	if limit := fifoLimit(&mo.CompactionOptionsFIFO); len(drop) == 0 || p.remainingData(mo, vs, left) > limit {
		return nil
	}
	for _, f := range drop {
		created, _ := pinnedCreationTime(f)
		p.log("[%s] FIFO compaction: picking file %d with estimated newest key time %d for deletion", cfName,
			f.FD.GetNumber(), estimatedNewestKeyTime(f, created))
	}
	return p.newCompaction(mo, mdb, vs, 0, drop, rocksdb.CompactionReasonFIFOTtl, nil)
}

// fifoLimit is how much data may be kept, in bytes.
func fifoLimit(o *rocksdb.CompactionOptionsFIFO) uint64 {
	if o.MaxDataFilesSize > 0 {
		return o.MaxDataFilesSize
	}
	return o.MaxTableFilesSize
}

// remainingData estimates the data left when level 0 shrinks to left bytes. With
// MaxDataFilesSize each byte of a table stands for its share of the blobs.
func (p *FIFOCompactionPicker) remainingData(mo *options.MutableCFOptions, vs *version.StorageInfo, left uint64) uint64 {
	if mo.CompactionOptionsFIFO.MaxDataFilesSize == 0 {
		return left
	}
	l0 := version.TotalFileSize(vs.LevelFiles(0))
	all := l0
	for level := 1; level < vs.NumLevels(); level++ {
		all += version.TotalFileSize(vs.LevelFiles(level))
	}
	remaining := all - (l0 - left)
	blobs := vs.GetBlobStats().TotalFileSize
	if all > 0 && blobs > 0 {
		remaining += uint64(float64(remaining) / float64(all) * float64(blobs))
	}
	return remaining
}

// pickSizeCompaction drops the oldest files until the rest fits. Files of lower
// levels, left from another compaction style, go first, those of the least keys
// before others: their age is not known, and smaller keys often are older.
func (p *FIFOCompactionPicker) pickSizeCompaction(cfName string, mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	vs *version.StorageInfo) *Compaction {
	o := &mo.CompactionOptionsFIFO
	lastLevel := 0
	var total uint64
	for level := 0; level < vs.NumLevels(); level++ {
		size := version.TotalFileSize(vs.LevelFiles(level))
		total += size
		if size > 0 {
			lastLevel = level
		}
	}
	if o.MaxDataFilesSize > 0 {
		total += vs.GetBlobStats().TotalFileSize
	}
	limit := fifoLimit(o)
	if lastLevel == 0 && total <= limit || p.busy(cfName) || total <= limit {
		return nil
	}
	files := vs.LevelFiles(lastLevel)
	// With MaxDataFilesSize files count as equal shares of tables and blobs.
	share := func(f *version.FileMetaData) uint64 { return f.FD.GetFileSize() }
	if o.MaxDataFilesSize > 0 && len(files) > 0 {
		each := max(total/uint64(len(files)), 1)
		share = func(*version.FileMetaData) uint64 { return each }
	}
	var drop []*version.FileMetaData
	if lastLevel == 0 {
		for _, f := range slices.Backward(files) {
			total -= min(total, share(f))
			drop = append(drop, f)
			p.log("[%s] FIFO compaction: picking file %d with size %s for deletion", cfName, f.FD.GetNumber(), humanBytes(f.FD.GetFileSize()))
			if total <= limit {
				break
			}
		}
	} else {
		for _, f := range files {
			if f.BeingCompacted {
				continue
			}
			total -= min(total, share(f))
			drop = append(drop, f)
			p.log("[%s] FIFO compaction: picking file %d with size %s for deletion under total size %d vs max size %d", cfName,
				f.FD.GetNumber(), humanBytes(f.FD.GetFileSize()), total, limit)
			if total <= limit {
				break
			}
		}
	}
	if len(drop) == 0 {
		return nil
	}
	return p.newCompaction(mo, mdb, vs, lastLevel, drop, rocksdb.CompactionReasonFIFOMaxSize, nil)
}

// pickTemperatureChangeCompaction rewrites the oldest file that is not stored as
// its age wants it.
func (p *FIFOCompactionPicker) pickTemperatureChangeCompaction(cfName string, mo *options.MutableCFOptions,
	mdb *options.MutableDBOptions, vs *version.StorageInfo) *Compaction {
	ages := mo.CompactionOptionsFIFO.FileTemperatureAgeThresholds
	files := vs.LevelFiles(0)
	if len(ages) == 0 || vs.NumLevels() > 1 || len(files) == 0 {
		return nil
	}
	now, ok := p.now(cfName, "file temperature-age threshold")
	if !ok {
		return nil
	}
	if len(p.level0) > 0 {
		p.log("[%s] FIFO compaction: Already executing compaction. Parallel compactions are not supported", cfName)
		return nil
	}
	if now <= ages[0].Age {
		return nil
	}
	for i := len(files) - 1; i >= 0; i-- {
		f := files[i]
		if f.BeingCompacted {
			return nil
		}
		var newer *version.FileMetaData
		if i > 0 {
			newer = files[i-1]
		}
		t := f.TryGetNewestKeyTime(newer)
		if t == version.UnknownNewestKeyTime {
			continue
		}
		if t > now-ages[0].Age {
			break
		}
		target := ages[0].Temperature
		for _, a := range ages[1:] {
			if now >= a.Age && t <= now-a.Age {
				target = a.Temperature
			}
		}
		if f.Temperature == target {
			continue
		}
		p.log("[%s] FIFO compaction: picking file %d with estimated newest key time %d and temperature %s for temperature %s.",
			cfName, f.FD.GetNumber(), t, temperatureName(f.Temperature), temperatureName(target))
		return p.newCompaction(mo, mdb, vs, 0, []*version.FileMetaData{f}, rocksdb.CompactionReasonChangeTemperature, func(q *Params) {
			q.Compression = mo.Compression
			q.OutputTemperatureOverride = target
		})
	}
	return nil
}

func temperatureName(t rocksdb.Temperature) string {
	switch t {
	case rocksdb.TemperatureUnknown:
		return "kUnknown"
	case rocksdb.TemperatureHot:
		return "kHot"
	case rocksdb.TemperatureWarm:
		return "kWarm"
	case rocksdb.TemperatureCool:
		return "kCool"
	case rocksdb.TemperatureCold:
		return "kCold"
	case rocksdb.TemperatureIce:
		return "kIce"
	}
	return fmt.Sprintf("%#x", uint8(t))
}

// pickIntraL0Compaction merges small files.
func (p *FIFOCompactionPicker) pickIntraL0Compaction(cfName string, mo *options.MutableCFOptions, mdb *options.MutableDBOptions,
	vs *version.StorageInfo) *Compaction {
	o := &mo.CompactionOptionsFIFO
	files := vs.LevelFiles(0)
	if !o.AllowCompaction || len(files) == 0 {
		return nil
	}
	if o.UseKVRatioCompaction {
		switch {
		case o.MaxDataFilesSize == 0:
			p.log("[%s] FIFO kv-ratio compaction: skipping -- max_data_files_size is 0, cannot compute target file size. ", cfName)
		case o.MaxDataFilesSize < o.MaxTableFilesSize:
			p.log("[%s] FIFO kv-ratio compaction: skipping -- max_data_files_size (%d) < max_table_files_size (%d).", cfName,
				o.MaxDataFilesSize, o.MaxTableFilesSize)
		default:
			return p.pickRatioBasedIntraL0Compaction(cfName, mo, mdb, vs)
		}
		p.log("[%s] FIFO: falling back to cost-based intra-L0 compaction", cfName)
	}
	// Files larger than a memtable are results of such merges: to merge them
	// again would keep them from ever reaching their TTL.
	picked := PickCostBasedIntraL0Compaction(files, mo.Level0FileNumCompactionTrigger,
		options.MultiplyCheckOverflow(mo.WriteBufferSize, 1.1), mo.MaxCompactionBytes)
	if picked == nil {
		return nil
	}
	return p.newCompaction(mo, mdb, vs, 0, picked, rocksdb.CompactionReasonFIFOReduceNumFiles, func(q *Params) {
		q.TargetFileSize = 16 << 20
		q.Compression = mo.Compression
	})
}

// ratioTarget is the size at which a file is not merged any more: what
// MaxCompactionBytes says, or what makes for as many files as the trigger when
// the capacity is used up.
func (p *FIFOCompactionPicker) ratioTarget(cfName string, mo *options.MutableCFOptions, vs *version.StorageInfo, trigger uint64) uint64 {
	if mo.MaxCompactionBytes > 0 {
		return mo.MaxCompactionBytes
	}
	tables, blobs := version.TotalFileSize(vs.LevelFiles(0)), vs.GetBlobStats().TotalFileSize
	if tables == 0 {
		return 0
	}
	ratio := 1.0
	if blobs > 0 {
		ratio = float64(tables) / float64(tables+blobs)
	}
	target := uint64(float64(mo.CompactionOptionsFIFO.MaxDataFilesSize)*ratio) / trigger
	p.log("[%s] FIFO ratio-based compaction: sst_ratio=%.4f, target_file_size=%d", cfName, ratio, target)
	return target
}

// pickRatioBasedIntraL0Compaction merges in tiers: consecutive files below
// target/trigger^k, the smallest tier first, once together they reach it. So a
// byte is rewritten about log(target)/log(trigger) times.
func (p *FIFOCompactionPicker) pickRatioBasedIntraL0Compaction(cfName string, mo *options.MutableCFOptions,
	mdb *options.MutableDBOptions, vs *version.StorageInfo) *Compaction {
	for level := 1; level < vs.NumLevels(); level++ {
		if n := vs.NumLevelFiles(level); n > 0 {
			p.log("[%s] FIFO kv-ratio compaction: skipping -- non-L0 level %d still has %d files (migration in progress)", cfName, level, n)
			return nil
		}
	}
	files := vs.LevelFiles(0)
	trigger := mo.Level0FileNumCompactionTrigger
	if len(p.level0) > 0 || trigger <= 1 || len(files) < trigger {
		return nil
	}
	target := p.ratioTarget(cfName, mo, vs, uint64(trigger))
	if target == 0 {
		return nil
	}
	var boundaries []uint64
	for t := target; t >= minTierBoundary; t /= uint64(trigger) {
		boundaries = append(boundaries, t)
	}
	if len(boundaries) == 0 {
		boundaries = append(boundaries, target)
	}
	for _, boundary := range slices.Backward(boundaries) {
		batch, size := findTierBatch(files, boundary)
		if batch == nil {
			continue
		}
		p.log("[%s] FIFO kv-ratio compaction: picking %d files (%d bytes) at tier boundary %d for intra-L0 compaction, target=%d",
			cfName, len(batch), size, boundary, target)
		return p.newCompaction(mo, mdb, vs, 0, batch, rocksdb.CompactionReasonFIFOReduceNumFiles, func(q *Params) {
			q.TargetFileSize = boundary
			q.Compression = mo.Compression
		})
	}
	return nil
}

// findTierBatch gives the oldest consecutive files below boundary that together
// reach it, but not twice of it.
func findTierBatch(files []*version.FileMetaData, boundary uint64) (batch []*version.FileMetaData, size uint64) {
	fits := func(f *version.FileMetaData) bool { return f.FD.GetFileSize() < boundary && !f.BeingCompacted }
	for end := len(files); end > 0; {
		if !fits(files[end-1]) {
			end--
			continue
		}
		batch, size = nil, 0
		for ; end > 0 && fits(files[end-1]); end-- {
			n := files[end-1].FD.GetFileSize()
			if size >= boundary && size+n > boundary*2 {
				break
			}
			batch = append(batch, files[end-1])
			size += n
		}
		if len(batch) >= 2 && size >= boundary {
			return batch, size
		}
	}
	return nil, 0
}
