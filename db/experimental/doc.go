// No upstream twin: Go package documentation.

// Package experimental builds filters of parts of keys into tables and asks them
// which tables a range query can leave out.
//
// A KeySegmentsExtractor says where the parts of a key end. SstQueryFilterConfigs
// tell of which parts the least and greatest value are kept (a SstQueryFilterConfig)
// and belong to a name and a version. A Factory of a SstQueryFilterConfigsManager,
// as a collector of table properties, writes the filters of one name and version to
// the property "rocksdb.sqfc"; Factory.GetTableFilterForRangeQuery gives what
// ReadOptions.TableFilter asks of tables written by any version.
//
// The property:
//
//	schema version, a byte, 1
//	filters
//
//	filters: their number varint64, then each with its length varint64 before it,
//	         the last without
//	filter:  its type, a byte, and
//	         0x01 id of the extractor length-prefixed (varint64), categories
//	              that keys have varint64, filters: for that extractor
//	         0x02 categories varint64, filters: for keys of these
//	         0x10 flags byte (1: some part is empty), the part byte, length of the
//	              least value varint32, the least value, the greatest
//	         0x11 the same for an order that is reversed: the greatest comes first
//
// Read sst_query_filter_manager.go first.
package experimental
