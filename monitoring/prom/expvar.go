// No upstream twin: the figures as an expvar variable.

package prom

import (
	"expvar"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// PublishExpvar publishes the figures under a name, as an object with the members
// tickers, histograms and properties (these by column family); expvar reads them
// each time it is asked. As expvar's own Publish it may be called once a name.
func PublishExpvar(name string, s Source) { expvar.Publish(name, ExpvarFunc(s)) }

// ExpvarFunc is the variable that PublishExpvar publishes. Of histograms those
// that have counted something are given.
func ExpvarFunc(s Source) expvar.Func {
	return func() any {
		out := map[string]any{}
		if s.Statistics != nil {
			out["tickers"] = s.Statistics.GetTickerMap()
			histograms := map[string]rocksdb.HistogramData{}
			for h, name := range rocksdb.HistogramsNameMap {
				if d := s.Statistics.GetHistogramData(rocksdb.Histogram(h)); d.Count > 0 {
					histograms[name] = d
				}
			}
			out["histograms"] = histograms
		}
		families := map[string]map[string]uint64{}
		for family, source := range s.Families {
			families[family] = map[string]uint64{}
			for _, name := range Properties {
				if v, ok := source.GetIntProperty(name); ok {
					families[family][name] = v
				}
			}
		}
		out["properties"] = families
		return out
	}
}
