// No upstream twin: a Prometheus collector.

package prom

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// PropertySource answers properties that are numbers, as a column family of a
// database does.
type PropertySource interface {
	// GetIntProperty is false where there is no such property.
	GetIntProperty(name string) (uint64, bool)
}

// Source is what a collector shows.
type Source struct {
	// Statistics is DBOptions.Statistics; nil shows no tickers and histograms.
	Statistics rocksdb.Statistics
	// Families are the column families shown, by the value of their label.
	Families map[string]PropertySource
	// Labels are constant labels of all metrics, to tell databases apart.
	Labels prometheus.Labels
}

// Properties are those that a collector shows of each family: all that are numbers
// and cheap to get.
var Properties = []string{
	rocksdb.PropertyNumImmutableMemTable,
	rocksdb.PropertyMemTableFlushPending,
	rocksdb.PropertyNumRunningFlushes,
	rocksdb.PropertyCompactionPending,
	rocksdb.PropertyNumRunningCompactions,
	rocksdb.PropertyBackgroundErrors,
	rocksdb.PropertyCurSizeActiveMemTable,
	rocksdb.PropertyCurSizeAllMemTables,
	rocksdb.PropertySizeAllMemTables,
	rocksdb.PropertyEstimateNumKeys,
	rocksdb.PropertyEstimateTableReadersMem,
	rocksdb.PropertyNumSnapshots,
	rocksdb.PropertyOldestSnapshotTime,
	rocksdb.PropertyNumLiveVersions,
	rocksdb.PropertyTotalSstFilesSize,
	rocksdb.PropertyLiveSstFilesSize,
	rocksdb.PropertyEstimateLiveDataSize,
	rocksdb.PropertyBaseLevel,
	rocksdb.PropertyEstimatePendingCompactionBytes,
	rocksdb.PropertyActualDelayedWriteRate,
	rocksdb.PropertyIsWriteStopped,
	rocksdb.PropertyBlockCacheCapacity,
	rocksdb.PropertyBlockCacheUsage,
	rocksdb.PropertyBlockCachePinnedUsage,
	rocksdb.PropertyNumBlobFiles,
	rocksdb.PropertyTotalBlobFileSize,
	rocksdb.PropertyLiveBlobFileSize,
}

// collector keeps the descriptions; figures are read when it is scraped.
type collector struct {
	s          Source
	tickers    []*prometheus.Desc
	histograms []*prometheus.Desc
	properties []*prometheus.Desc
}

// NewCollector makes a collector; register it with a prometheus.Registerer, and
// take it out again before the database is closed.
func NewCollector(s Source) prometheus.Collector {
	c := &collector{s: s}
	if s.Statistics != nil {
		for _, name := range rocksdb.TickersNameMap {
			c.tickers = append(c.tickers, prometheus.NewDesc(tickerName(name), "Ticker "+name+".", nil, s.Labels))
		}
		for _, name := range rocksdb.HistogramsNameMap {
			c.histograms = append(c.histograms, prometheus.NewDesc(metricName(name), "Histogram "+name+".", nil, s.Labels))
		}
	}
	for _, name := range Properties {
		c.properties = append(c.properties, prometheus.NewDesc(metricName(name), "Property "+name+".", []string{"column_family"}, s.Labels))
	}
	return c
}

var replaceName = strings.NewReplacer(".", "_", "-", "_")

func metricName(name string) string {
	n := replaceName.Replace(strings.ToLower(name))
	// Ends that Prometheus keeps for parts of its own.
	for _, end := range []string{"_count", "_sum", "_bucket", "_total"} {
		if rest, ok := strings.CutSuffix(n, end); ok {
			n = rest + "_number"
		}
	}
	return n
}

// tickerName is the name of a counter, which has to end in _total.
func tickerName(name string) string { return metricName(name) + "_total" }

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, list := range [][]*prometheus.Desc{c.tickers, c.histograms, c.properties} {
		for _, d := range list {
			ch <- d
		}
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	for t, d := range c.tickers {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(c.s.Statistics.GetTickerCount(rocksdb.Ticker(t))))
	}
	for h, d := range c.histograms {
		data := c.s.Statistics.GetHistogramData(rocksdb.Histogram(h))
		ch <- prometheus.MustNewConstSummary(d, data.Count, float64(data.Sum),
			map[float64]float64{0.5: data.Median, 0.95: data.Percentile95, 0.99: data.Percentile99, 1: data.Max})
	}
	for family, source := range c.s.Families {
		for i, d := range c.properties {
			if v, ok := source.GetIntProperty(Properties[i]); ok {
				ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), family)
			}
		}
	}
}
