// Port of db/event_helpers.{h,cc} (table files).

package db

import (
	"encoding/hex"
	"sort"

	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/seqnotime"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
)

// NotifyTableFileCreationStarted tells listeners that a table is begun.
func NotifyTableFileCreationStarted(listeners []rocksdb.EventListener, dbName, cfName, path string, jobID int,
	reason rocksdb.TableFileCreationReason) {
	if len(listeners) == 0 {
		return
	}
	info := rocksdb.TableFileCreationBriefInfo{
		FileCreationBriefInfo: rocksdb.FileCreationBriefInfo{DBName: dbName, CFName: cfName, FilePath: path, JobID: jobID},
		Reason:                reason,
	}
	for _, l := range listeners {
		l.OnTableFileCreationStarted(&info)
	}
}

// TableFileCreation is the outcome of writing a table.
type TableFileCreation struct {
	DBName, CFName, Path string
	JobID                int
	Meta                 *version.FileMetaData
	Properties           *rocksdb.TableProperties
	Reason               rocksdb.TableFileCreationReason
	Status               error
	Checksum             string
	ChecksumFuncName     string
}

// LogAndNotifyTableFileCreationFinished logs the event table_file_creation and
// tells listeners. events may be nil.
func LogAndNotifyTableFileCreationFinished(events *logging.EventLogger, listeners []rocksdb.EventListener, c *TableFileCreation) {
	if events != nil {
		logTableFileCreation(events, c)
	}
	if len(listeners) == 0 {
		return
	}
	info := rocksdb.TableFileCreationInfo{
		TableFileCreationBriefInfo: rocksdb.TableFileCreationBriefInfo{
			FileCreationBriefInfo: rocksdb.FileCreationBriefInfo{DBName: c.DBName, CFName: c.CFName, FilePath: c.Path, JobID: c.JobID},
			Reason:                c.Reason,
		},
		FileSize: c.Meta.FD.GetFileSize(), TableProperties: *c.Properties, Status: c.Status,
		FileChecksum: c.Checksum, FileChecksumFuncName: c.ChecksumFuncName,
	}
	for _, l := range listeners {
		l.OnTableFileCreated(&info)
	}
}

func logTableFileCreation(events *logging.EventLogger, c *TableFileCreation) {
	fd, p := &c.Meta.FD, c.Properties
	average := func(sum uint64) uint64 {
		if p.NumEntries == 0 {
			return 0
		}
		return sum / p.NumEntries
	}
	e := events.Log()
	e.Add("cf_name", c.CFName).Add("job", c.JobID).Add("event", "table_file_creation").
		Add("file_number", fd.GetNumber()).Add("file_size", fd.GetFileSize()).
		Add("file_checksum", upperHex(c.Checksum)).Add("file_checksum_func_name", c.ChecksumFuncName).
		Add("smallest_seqno", fd.SmallestSeqno).Add("largest_seqno", fd.LargestSeqno)
	e.JSON.AddKey("table_properties")
	e.JSON.StartObject()
	e.Add("data_size", p.DataSize).Add("index_size", p.IndexSize).Add("index_partitions", p.IndexPartitions).
		Add("top_level_index_size", p.TopLevelIndexSize).Add("index_key_is_user_key", p.IndexKeyIsUserKey).
		Add("index_value_is_delta_encoded", p.IndexValueIsDeltaEncoded).Add("filter_size", p.FilterSize).
		Add("raw_key_size", p.RawKeySize).Add("raw_average_key_size", average(p.RawKeySize)).
		Add("raw_value_size", p.RawValueSize).Add("raw_average_value_size", average(p.RawValueSize)).
		Add("num_data_blocks", p.NumDataBlocks).Add("num_entries", p.NumEntries).
		Add("num_filter_entries", p.NumFilterEntries).Add("num_deletions", p.NumDeletions).
		Add("num_merge_operands", p.NumMergeOperands).Add("num_range_deletions", p.NumRangeDeletions).
		Add("format_version", p.FormatVersion).Add("fixed_key_len", p.FixedKeyLen).
		Add("filter_policy", p.FilterPolicyName).Add("column_family_name", p.ColumnFamilyName).
		Add("column_family_id", p.ColumnFamilyID).Add("comparator", p.ComparatorName).
		Add("user_defined_timestamps_persisted", p.UserDefinedTimestampsPersisted).
		Add("key_largest_seqno", p.KeyLargestSeqno).Add("key_smallest_seqno", p.KeySmallestSeqno).
		Add("merge_operator", p.MergeOperatorName).Add("prefix_extractor_name", p.PrefixExtractorName).
		Add("property_collectors", p.PropertyCollectorsNames).Add("compression", p.CompressionName).
		Add("compression_options", p.CompressionOptions).Add("creation_time", p.CreationTime).
		// The names of the next two are swapped upstream as well; readers of
		// LOG files know them so.
		Add("oldest_key_time", p.NewestKeyTime).Add("newest_key_time", p.OldestKeyTime).
		Add("file_creation_time", p.FileCreationTime).
		Add("slow_compression_estimated_data_size", p.SlowCompressionEstimatedDataSize).
		Add("fast_compression_estimated_data_size", p.FastCompressionEstimatedDataSize).
		Add("db_id", p.DBID).Add("db_session_id", p.DBSessionID).Add("orig_file_number", p.OrigFileNumber).
		Add("seqno_to_time_mapping", seqnoMappingText(p.SeqnoToTimeMapping))
	names := make([]string, 0, len(p.ReadableProperties))
	for name := range p.ReadableProperties {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		e.Add(name, p.ReadableProperties[name])
	}
	e.JSON.EndObject()
	if c.Meta.OldestBlobFileNumber != blobformat.InvalidBlobFileNumber {
		e.Add("oldest_blob_file_number", c.Meta.OldestBlobFileNumber)
	}
	status := "OK"
	if c.Status != nil {
		status = c.Status.Error()
	}
	e.Add("status", status).End()
}

func upperHex(s string) string {
	b := []byte(hex.EncodeToString([]byte(s)))
	for i, ch := range b {
		if ch >= 'a' {
			b[i] = ch - 'a' + 'A'
		}
	}
	return string(b)
}

func seqnoMappingText(encoded string) string {
	if encoded == "" {
		return "N/A"
	}
	m := seqnotime.NewSeqnoToTimeMapping()
	if err := m.DecodeFrom([]byte(encoded)); err != nil {
		return "Invalid"
	}
	return m.ToHumanString()
}

// LogAndNotifyTableFileDeletion logs the event table_file_deletion and tells
// listeners. events may be nil.
func LogAndNotifyTableFileDeletion(events *logging.EventLogger, jobID int, number uint64, path string, status error,
	dbName string, listeners []rocksdb.EventListener) {
	if events != nil {
		text := "OK"
		if status != nil {
			text = status.Error()
		}
		events.Log().Add("job", jobID).Add("event", "table_file_deletion").Add("file_number", number).Add("status", text).End()
	}
	if len(listeners) == 0 {
		return
	}
	info := rocksdb.TableFileDeletionInfo{FileDeletionInfo: rocksdb.FileDeletionInfo{DBName: dbName, FilePath: path, JobID: jobID, Status: status}}
	for _, l := range listeners {
		l.OnTableFileDeleted(&info)
	}
}
