// Package monitoring measures: tickers and histograms (StatisticsImpl,
// HistogramImpl, HistogramWindowingImpl), timers for PerfContext and
// IOStatsContext (PerfStepTimer), the instrumented DB mutex (InstrumentedMutex,
// InstrumentedCondVar), what background workers are doing (ThreadStatusUpdater),
// and the history of statistics (InMemoryStatsHistoryIterator,
// PersistentStatsHistoryIterator).
//
// Invariants:
//   - A nil Statistics, *PerfContext, *IOStatsContext or *ThreadStatusData turns
//     the measurement off; the functions here take nil.
//   - Recording allocates nothing and takes no lock.
//   - A tick is never lost. A reader that sums while others record sees each
//     stripe at some moment during its call, not all at one moment.
//
// Locks, each a leaf: StatisticsImpl.aggregateMu (readers and resets among each
// other), HistogramImpl.mu and HistogramWindowingImpl.mu (Clear, Merge, window
// swap), ThreadStatusUpdater.mu (list of workers, names of column families),
// InstrumentedCondVar.mu (its list of waiters; taken with or without the mutex
// held). InstrumentedMutex is its owner's: the DB's outermost lock.
//
// Read statistics.go first, then histogram.go.
package monitoring
