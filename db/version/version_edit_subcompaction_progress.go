// Port of db/version_edit.{h,cc}, SubcompactionProgress and its builder.
// Differs: a record that repeats an output level is read as one list, and a
// count of files that the bytes cannot hold is a corruption.

package version

import (
	"fmt"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

const (
	perLevelTerminate        = 1
	perLevelOutputFilesDelta = 2
	perLevelNumProcessed     = 3

	progressTerminate           = 1
	progressNextInternalKey     = 2
	progressNumProcessedInput   = 3
	progressOutputLevel         = 4
	progressProximalOutputLevel = 5

	progressSafeIgnoreMask = 1 << 16
)

// SubcompactionProgressPerLevel says which files a resumable subcompaction has
// put on one level. Only files that are not yet persisted are encoded.
//
// Its bytes: [varint32 3, string(varint64 records)] [varint32 2, string(varint32
// count, count strings, each a TagNewFile4 entry)] varint32 1. Parts in
// brackets are left out when empty.
type SubcompactionProgressPerLevel struct {
	NumProcessedOutputRecords     uint64
	OutputFiles                   []*FileMetaData
	LastPersistedOutputFilesCount int
}

// UpdateLastPersistedOutputFilesCount marks all files as persisted.
func (p *SubcompactionProgressPerLevel) UpdateLastPersistedOutputFilesCount() {
	p.LastPersistedOutputFilesCount = len(p.OutputFiles)
}

// AddToOutputFiles adds a clone of f.
func (p *SubcompactionProgressPerLevel) AddToOutputFiles(f *FileMetaData) {
	p.OutputFiles = append(p.OutputFiles, f.Clone())
}

// Clear makes the progress empty.
func (p *SubcompactionProgressPerLevel) Clear() { *p = SubcompactionProgressPerLevel{} }

func (p *SubcompactionProgressPerLevel) hasNewFiles() bool {
	return len(p.OutputFiles) > p.LastPersistedOutputFilesCount
}

// EncodeTo appends the record to dst.
func (p *SubcompactionProgressPerLevel) EncodeTo(dst []byte) []byte {
	if p.NumProcessedOutputRecords > 0 {
		var buf [10]byte
		dst = util.AppendVarint32(dst, perLevelNumProcessed)
		dst = util.AppendLengthPrefixedSlice(dst, util.AppendVarint64(buf[:0], p.NumProcessedOutputRecords))
	}
	if p.hasNewFiles() {
		files := p.OutputFiles[p.LastPersistedOutputFilesCount:]
		data := util.AppendVarint32(nil, uint32(len(files)))
		for _, f := range files {
			data = util.AppendLengthPrefixedSlice(data, f.encodeNewFile4(nil, -1, 0, false, 0))
		}
		dst = util.AppendVarint32(dst, perLevelOutputFilesDelta)
		dst = util.AppendLengthPrefixedSlice(dst, data)
	}
	return util.AppendVarint32(dst, perLevelTerminate)
}

// DecodeFrom reads the record at the front of src.
func (p *SubcompactionProgressPerLevel) DecodeFrom(src []byte) error {
	const class = "SubcompactionProgressPerLevel"
	p.Clear()
	d := decoder{src}
	for {
		tag, ok := d.varint32()
		if !ok {
			return rocksdb.Corruption(class, "tag error")
		}
		if tag == perLevelTerminate {
			return nil
		}
		field, ok := d.slice()
		if !ok {
			return rocksdb.Corruption(class, "field length prefixed slice error")
		}
		switch tag {
		case perLevelNumProcessed:
			fd := decoder{field}
			if p.NumProcessedOutputRecords, ok = fd.varint64(); !ok {
				return rocksdb.Corruption(class, "invalid num_processed_output_records_")
			}
		case perLevelOutputFilesDelta:
			if err := p.decodeOutputFiles(field); err != nil {
				return err
			}
		default:
			if tag&progressSafeIgnoreMask == 0 {
				return rocksdb.NotSupported("SubcompactionProgress", "unsupported critical custom field")
			}
		}
	}
}

func (p *SubcompactionProgressPerLevel) decodeOutputFiles(src []byte) error {
	const class = "SubcompactionProgressPerLevel"
	d := decoder{src}
	count, ok := d.varint32()
	if !ok {
		return rocksdb.Corruption(class, "new output file count")
	}
	for range count {
		entry, ok := d.slice()
		if !ok {
			return rocksdb.Corruption(class, "output file metadata")
		}
		ed := decoder{entry}
		if tag, ok := ed.varint32(); !ok || Tag(tag) != TagNewFile4 {
			return rocksdb.Corruption(class, "expected kNewFile4 tag")
		}
		f := NewFileMetaData()
		var maxLevel int
		var minLog uint64
		var hasMinLog bool
		if _, msg := decodeNewFile4(&ed, f, &maxLevel, true, &minLog, &hasMinLog); msg != "" {
			return rocksdb.Corruption(class, msg)
		}
		p.OutputFiles = append(p.OutputFiles, f)
	}
	return nil
}

// String is the progress as text.
func (p *SubcompactionProgressPerLevel) String() string {
	return fmt.Sprintf("SubcompactionProgressPerLevel{ num_processed_output_records=%d, output_files_count=%d, last_persisted_output_files_count=%d }",
		p.NumProcessedOutputRecords, len(p.OutputFiles), p.LastPersistedOutputFilesCount)
}

// SubcompactionProgress says how far a resumable subcompaction has come.
//
// Its bytes: [varint32 2, string key] varint32 3, string(varint64 records)
// [varint32 4, string output level] [varint32 5, string proximal level]
// varint32 1.
type SubcompactionProgress struct {
	NextInternalKeyToCompact    []byte
	NumProcessedInputRecords    uint64
	OutputLevelProgress         SubcompactionProgressPerLevel
	ProximalOutputLevelProgress SubcompactionProgressPerLevel
}

// CompactionProgress is that of each subcompaction.
type CompactionProgress []SubcompactionProgress

// Clear makes the progress empty.
func (p *SubcompactionProgress) Clear() { *p = SubcompactionProgress{} }

// EncodeTo appends the record to dst.
func (p *SubcompactionProgress) EncodeTo(dst []byte) []byte {
	if len(p.NextInternalKeyToCompact) > 0 {
		dst = util.AppendVarint32(dst, progressNextInternalKey)
		dst = util.AppendLengthPrefixedSlice(dst, p.NextInternalKeyToCompact)
	}
	var buf [10]byte
	dst = util.AppendVarint32(dst, progressNumProcessedInput)
	dst = util.AppendLengthPrefixedSlice(dst, util.AppendVarint64(buf[:0], p.NumProcessedInputRecords))
	if p.OutputLevelProgress.hasNewFiles() {
		dst = util.AppendVarint32(dst, progressOutputLevel)
		dst = util.AppendLengthPrefixedSlice(dst, p.OutputLevelProgress.EncodeTo(nil))
	}
	if p.ProximalOutputLevelProgress.hasNewFiles() {
		dst = util.AppendVarint32(dst, progressProximalOutputLevel)
		dst = util.AppendLengthPrefixedSlice(dst, p.ProximalOutputLevelProgress.EncodeTo(nil))
	}
	return util.AppendVarint32(dst, progressTerminate)
}

// DecodeFrom reads the record at the front of src, which is not kept.
func (p *SubcompactionProgress) DecodeFrom(src []byte) error {
	const class = "SubcompactionProgress"
	p.Clear()
	d := decoder{src}
	for {
		tag, ok := d.varint32()
		if !ok {
			return rocksdb.Corruption(class, "custom field tag error")
		}
		if tag == progressTerminate {
			return nil
		}
		field, ok := d.slice()
		if !ok {
			return rocksdb.Corruption(class, "custom field length prefixed slice error")
		}
		switch tag {
		case progressNextInternalKey:
			p.NextInternalKeyToCompact = append([]byte(nil), field...)
		case progressNumProcessedInput:
			fd := decoder{field}
			if p.NumProcessedInputRecords, ok = fd.varint64(); !ok {
				return rocksdb.Corruption(class, "invalid num_processed_input_records")
			}
		case progressOutputLevel:
			if err := p.OutputLevelProgress.DecodeFrom(field); err != nil {
				return err
			}
		case progressProximalOutputLevel:
			if err := p.ProximalOutputLevelProgress.DecodeFrom(field); err != nil {
				return err
			}
		default:
			if tag&progressSafeIgnoreMask == 0 {
				return rocksdb.NotSupported(class, "unsupported critical custom field")
			}
		}
	}
}

// SubcompactionProgressBuilder adds up the progress that successive edits
// record. The zero value is empty.
type SubcompactionProgressBuilder struct {
	accumulated SubcompactionProgress
	has         bool
}

// ProcessVersionEdit adds e's progress; it reports whether e has any.
func (b *SubcompactionProgressBuilder) ProcessVersionEdit(e *VersionEdit) bool {
	if !e.HasSubcompactionProgress() {
		return false
	}
	delta := e.GetSubcompactionProgress()
	b.accumulated.NextInternalKeyToCompact = append([]byte(nil), delta.NextInternalKeyToCompact...)
	b.accumulated.NumProcessedInputRecords = delta.NumProcessedInputRecords
	mergePerLevel(&b.accumulated.OutputLevelProgress, &delta.OutputLevelProgress)
	mergePerLevel(&b.accumulated.ProximalOutputLevelProgress, &delta.ProximalOutputLevelProgress)
	b.has = true
	return true
}

func mergePerLevel(dst, delta *SubcompactionProgressPerLevel) {
	if len(delta.OutputFiles) == 0 {
		return
	}
	for _, f := range delta.OutputFiles {
		dst.AddToOutputFiles(f)
	}
	dst.NumProcessedOutputRecords = delta.NumProcessedOutputRecords
}

// GetAccumulatedSubcompactionProgress is the sum; the builder owns it.
func (b *SubcompactionProgressBuilder) GetAccumulatedSubcompactionProgress() *SubcompactionProgress {
	return &b.accumulated
}

// HasAccumulatedSubcompactionProgress tells whether any edit had progress.
func (b *SubcompactionProgressBuilder) HasAccumulatedSubcompactionProgress() bool { return b.has }

// Clear makes the builder empty.
func (b *SubcompactionProgressBuilder) Clear() { *b = SubcompactionProgressBuilder{} }
