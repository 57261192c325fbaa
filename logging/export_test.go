// No upstream twin: what upstream has as TEST_ members.

package logging

import "github.com/rocksdb-go/rocksdb/include/rocksdb"

func (l *AutoRollLogger) LogName() string { return l.logName }

func (l *AutoRollLogger) Ctime() uint64 { return l.ctime.Load() }

func (l *AutoRollLogger) InnerLogger() rocksdb.Logger {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.mu.logger
}
