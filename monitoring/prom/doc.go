// Package prom shows a database to Prometheus and expvar: NewCollector gives a
// prometheus.Collector over tickers, histograms and properties, PublishExpvar the
// same figures as an expvar variable. It sees the database through Source, so that
// it depends on neither the engine nor the facade.
//
// Metrics are named rocksdb_*: a ticker rocksdb.block.cache.miss is the counter
// rocksdb_block_cache_miss_total, a histogram rocksdb.db.get.micros the summary
// rocksdb_db_get_micros, a property rocksdb.num-immutable-mem-table the gauge
// rocksdb_num_immutable_mem_table with the label column_family.
//
// Invariants: a scrape takes no lock of the database for longer than the
// properties themselves do, and changes nothing.
//
// Read collector.go first.
package prom
