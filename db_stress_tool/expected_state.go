// Port of db_stress_tool/expected_state.{h,cc}. Differs: only writes of
// untransacted batches are replayed; a prepared transaction in a trace is
// NotSupported.

package dbstresstool

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/db/wide"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	tracereplay "github.com/rocksdb-go/rocksdb/trace_replay"
	"github.com/rocksdb-go/rocksdb/utilities/trace"
)

// Names in expected_values_dir.
const (
	latestStateName  = "LATEST.state"
	persistSeqnoName = "PERSIST.seqno"
	stateSuffix      = ".state"
	traceSuffix      = ".trace"
	latestPrefix     = "LATEST"
	tempPrefix       = "."
	tempSuffix       = ".tmp"
)

const noSavedSeqno = math.MaxUint64

// expectedState has a word for each key of each family, in memory or in a
// mapped file. Words are read and written without a lock; who changes one has
// the key's lock.
type expectedState struct {
	maxKey  int64
	words   []atomic.Uint32
	seqno   *atomic.Uint64 // that the database has persisted
	buffers []rocksdb.FSMemoryMappedFileBuffer
}

func (s *expectedState) word(cf int, key int64) *atomic.Uint32 {
	return &s.words[int64(cf)*s.maxKey+key]
}

func (s *expectedState) get(cf int, key int64) expectedValue {
	return expectedValue(s.word(cf, key).Load())
}

func (s *expectedState) clearColumnFamily(cf int) {
	for key := range s.maxKey {
		s.word(cf, key).Store(delMask)
	}
}

func (s *expectedState) reset() {
	for i := range s.words {
		s.words[i].Store(delMask)
	}
}

func (s *expectedState) preparePut(cf int, key int64) pendingExpectedValue {
	w := s.word(cf, key)
	v := expectedValue(w.Load())
	pending := v.beginPut()
	w.Store(uint32(pending))
	return pendingExpectedValue{w, v, pending.put()}
}

// prepareDelete of a key that is not there changes nothing.
func (s *expectedState) prepareDelete(cf int, key int64) pendingExpectedValue {
	w := s.word(cf, key)
	v := expectedValue(w.Load())
	if !v.exists() {
		return pendingExpectedValue{w, v, v}
	}
	pending := v.beginDelete()
	w.Store(uint32(pending))
	return pendingExpectedValue{w, v, pending.deleted()}
}

func (s *expectedState) syncPut(cf int, key int64, base uint32) {
	w := s.word(cf, key)
	w.Store(uint32(expectedValue(w.Load()).syncPut(base)))
}

func (s *expectedState) syncDelete(cf int, key int64) {
	w := s.word(cf, key)
	w.Store(uint32(expectedValue(w.Load()).syncDelete()))
}

func newExpectedState(maxKey int64, families int) *expectedState {
	s := &expectedState{maxKey: maxKey, words: make([]atomic.Uint32, maxKey*int64(families)), seqno: new(atomic.Uint64)}
	s.reset()
	return s
}

// mapExpectedState opens the state's files, which have to have their size.
func mapExpectedState(fs rocksdb.FileSystem, statePath, seqnoPath string, maxKey int64, families int) (*expectedState, error) {
	s := &expectedState{maxKey: maxKey}
	n := int(maxKey) * families
	data, err := s.mapFile(fs, statePath, n*4)
	if err != nil {
		return nil, err
	}
	s.words = unsafe.Slice((*atomic.Uint32)(unsafe.Pointer(&data[0])), n)
	if data, err = s.mapFile(fs, seqnoPath, 8); err != nil {
		s.close()
		return nil, err
	}
	s.seqno = (*atomic.Uint64)(unsafe.Pointer(&data[0]))
	return s, nil
}

func (s *expectedState) mapFile(fs rocksdb.FileSystem, path string, size int) ([]byte, error) {
	b, err := fs.NewMemoryMappedFileBuffer(path)
	if err != nil {
		return nil, err
	}
	s.buffers = append(s.buffers, b)
	data := b.Data()
	if len(data) != size {
		s.close()
		return nil, rocksdb.InvalidArgument(fmt.Sprintf("%s has %d bytes; --max_key and --column_families want %d", path, len(data), size))
	}
	return data, nil
}

func (s *expectedState) close() {
	for _, b := range s.buffers {
		_ = b.Close()
	}
	s.buffers = nil
}

// expectedStateManager keeps the latest state, and where it has a directory,
// the state of a saved sequence number with the writes since.
type expectedStateManager struct {
	maxKey     int64
	families   int
	fs         rocksdb.FileSystem
	dir        string // "" keeps the state in memory
	latest     *expectedState
	savedSeqno uint64
	check      func(columns rocksdb.WideColumns) bool
	keys       *keyGenerator
	strip      func(key []byte) []byte // of its timestamp
	fail       func(error)             // of a trace that cannot be written; does not return
}

func (m *expectedStateManager) path(name string) string { return filepath.Join(m.dir, name) }
func (m *expectedStateManager) tempPath(name string) string {
	return filepath.Join(m.dir, tempPrefix+name+tempSuffix)
}

func createFile(fs rocksdb.FileSystem, path string, data []byte) error {
	return rocksdb.WriteStringToFile(fs, data, path, false, nil, nil)
}

// seqnoOf gives the number in "<number><suffix>".
func seqnoOf(name, suffix string) (uint64, bool) {
	text, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	return n, err == nil
}

// open finds what an earlier run left, and makes what is missing.
func (m *expectedStateManager) open() error {
	m.savedSeqno = noSavedSeqno
	if m.dir == "" {
		m.latest = newExpectedState(m.maxKey, m.families)
		return nil
	}
	names, err := m.fs.GetChildren(m.dir, nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		if n, ok := seqnoOf(name, stateSuffix); ok && (m.savedSeqno == noSavedSeqno || n > m.savedSeqno) {
			m.savedSeqno = n
		}
	}
	if m.savedSeqno != noSavedSeqno {
		// A crash may have come between the state's making and the trace's.
		path := m.path(strconv.FormatUint(m.savedSeqno, 10) + traceSuffix)
		if err := m.fs.FileExists(path, nil); rocksdb.IsNotFound(err) {
			if err := createFile(m.fs, path, nil); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	if err := m.clean(names); err != nil {
		return err
	}
	if err := m.fs.FileExists(m.path(latestStateName), nil); rocksdb.IsNotFound(err) {
		if err := m.create(); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	m.latest, err = mapExpectedState(m.fs, m.path(latestStateName), m.path(persistSeqnoName), m.maxKey, m.families)
	return err
}

// create makes the files under other names first, so that a killed run leaves
// no half of them.
func (m *expectedStateManager) create() error {
	stateTemp, seqnoTemp := m.tempPath(latestStateName), m.tempPath(persistSeqnoName)
	if err := createFile(m.fs, stateTemp, make([]byte, m.maxKey*int64(m.families)*4)); err != nil {
		return err
	}
	if err := createFile(m.fs, seqnoTemp, make([]byte, 8)); err != nil {
		return err
	}
	s, err := mapExpectedState(m.fs, stateTemp, seqnoTemp, m.maxKey, m.families)
	if err != nil {
		return err
	}
	s.reset()
	s.close()
	if err := m.fs.RenameFile(stateTemp, m.path(latestStateName), nil); err != nil {
		return err
	}
	return m.fs.RenameFile(seqnoTemp, m.path(persistSeqnoName), nil)
}

// clean removes what interrupted runs left.
func (m *expectedStateManager) clean(names []string) error {
	for _, name := range names {
		stale := strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
		for _, suffix := range []string{stateSuffix, traceSuffix} {
			if n, ok := seqnoOf(name, suffix); ok && m.savedSeqno != noSavedSeqno && n < m.savedSeqno {
				stale = true
			}
		}
		if stale {
			if err := m.fs.DeleteFile(m.path(name), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// tracedDB is what of a database the state is saved and restored for.
type tracedDB interface {
	GetLatestSequenceNumber() rocksdb.SequenceNumber
	StartTrace(o *rocksdb.TraceOptions, w rocksdb.TraceWriter) error
}

// fatalTraceWriter ends the run when a record cannot be written: the state
// could no longer be restored.
type fatalTraceWriter struct {
	rocksdb.TraceWriter
	path string
	fail func(error)
}

func (w *fatalTraceWriter) Write(data []byte) error {
	err := w.TraceWriter.Write(data)
	if err != nil {
		w.fail(fmt.Errorf("fatal expected-state trace write failure for %s: %w", w.path, err))
	}
	return err
}

func (m *expectedStateManager) copyFile(from, to string) error {
	data, err := rocksdb.ReadFileToString(m.fs, from, nil)
	if err != nil {
		return err
	}
	return createFile(m.fs, to, data)
}

// saveAtAndAfter saves the state and traces all writes from now on. Nothing may
// write meanwhile.
func (m *expectedStateManager) saveAtAndAfter(db tracedDB) error {
	if m.dir == "" {
		return rocksdb.NotSupported("the history of an expected state without --expected_values_dir")
	}
	seqno := db.GetLatestSequenceNumber()
	number := strconv.FormatUint(seqno, 10)
	stateName := number + stateSuffix
	if err := m.copyFile(m.path(latestStateName), m.tempPath(stateName)); err != nil {
		return err
	}
	if err := m.fs.RenameFile(m.tempPath(stateName), m.path(stateName), nil); err != nil {
		return err
	}
	old := m.savedSeqno
	m.savedSeqno = seqno
	tracePath := m.path(number + traceSuffix)
	fw, err := trace.NewFileTraceWriter(m.fs, tracePath, nil)
	if err != nil {
		return err
	}
	opts := rocksdb.DefaultTraceOptions()
	opts.Filter = rocksdb.TraceFilterGet | rocksdb.TraceFilterMultiGet | rocksdb.TraceFilterIteratorSeek | rocksdb.TraceFilterIteratorSeekForPrev
	opts.PreserveWriteOrder = true
	if err := db.StartTrace(&opts, &fatalTraceWriter{fw, tracePath, m.fail}); err != nil {
		return err
	}
	if old == noSavedSeqno || old == seqno {
		return nil
	}
	number = strconv.FormatUint(old, 10)
	if err := m.fs.DeleteFile(m.path(number+stateSuffix), nil); err != nil {
		return err
	}
	return m.fs.DeleteFile(m.path(number+traceSuffix), nil)
}

func (m *expectedStateManager) hasHistory() bool { return m.savedSeqno != noSavedSeqno }

// restore makes the latest state that of the database's sequence number: the
// saved one and as many of the traced writes as the number has grown by.
func (m *expectedStateManager) restore(db tracedDB) error {
	seqno := db.GetLatestSequenceNumber()
	if seqno < m.savedSeqno {
		return rocksdb.Corruption("DB is older than any restorable expected state")
	}
	number := strconv.FormatUint(m.savedSeqno, 10)
	temp := m.tempPath(latestStateName)
	if err := m.copyFile(m.path(number+stateSuffix), temp); err != nil {
		return err
	}
	s, err := mapExpectedState(m.fs, temp, m.path(persistSeqnoName), m.maxKey, m.families)
	if err != nil {
		return err
	}
	err = m.replay(m.path(number+traceSuffix), s, seqno-m.savedSeqno)
	s.close()
	if err != nil {
		return err
	}
	m.latest.close()
	if err := m.fs.RenameFile(temp, m.path(latestStateName), nil); err != nil {
		return err
	}
	if m.latest, err = mapExpectedState(m.fs, m.path(latestStateName), m.path(persistSeqnoName), m.maxKey, m.families); err != nil {
		return err
	}
	// The state goes first: a trace without its state is harmless.
	if err := m.fs.DeleteFile(m.path(number+stateSuffix), nil); err != nil {
		return err
	}
	names, err := m.fs.GetChildren(m.dir, nil)
	if err != nil {
		return err
	}
	for _, name := range names {
		// The one just replayed is kept to look at.
		if n, ok := seqnoOf(name, traceSuffix); ok && n < m.savedSeqno {
			if err := m.fs.DeleteFile(m.path(name), nil); err != nil {
				return err
			}
		}
	}
	m.savedSeqno = noSavedSeqno
	return nil
}

// replay applies n writes of the trace.
func (m *expectedStateManager) replay(path string, s *expectedState, n uint64) error {
	r, err := trace.NewFileTraceReader(m.fs, path, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	h := &stateReplayer{state: s, left: n, manager: m}
	version := 0
	for first := true; ; first = false {
		data, err := r.Read()
		switch {
		case rocksdb.IsIncomplete(err) && !first, rocksdb.IsCorruption(err) && h.left == 0 && !first:
			// The end, or a record that a crash cut off.
			return h.done(n)
		case rocksdb.IsIncomplete(err) && n == 0:
			return nil // an empty file: the crash came before the trace
		case err != nil:
			return err
		}
		if first {
			if version, err = tracereplay.DecodeHeader(data); err != nil {
				return err
			}
			continue
		}
		t, err := tracereplay.DecodeTrace(data)
		if err != nil {
			return err
		}
		if t.Type == tracereplay.TraceEnd {
			return h.done(n)
		}
		if t.Type != tracereplay.TraceWrite || h.left == 0 {
			continue
		}
		record, err := tracereplay.DecodeTraceRecord(&t, version)
		if err != nil {
			return err
		}
		b, err := writebatch.NewFromRep(record.(*tracereplay.WriteQueryTraceRecord).WriteBatchRep)
		if err != nil {
			return err
		}
		if err := b.Iterate(h); err != nil && !errors.Is(err, errReplayed) {
			return err
		}
	}
}

// errReplayed ends a batch of which the database has only a part.
var errReplayed = errors.New("replayed")

// stateReplayer applies batches to a state.
type stateReplayer struct {
	writebatch.HandlerBase
	state   *expectedState
	left    uint64
	manager *expectedStateManager
}

func (h *stateReplayer) done(n uint64) error {
	if h.left == 0 {
		return nil
	}
	return rocksdb.Corruption("Trace ended before replaying all expected write ops", fmt.Sprintf("%d < %d", n-h.left, n))
}

func (h *stateReplayer) key(cf uint32, key []byte) (int64, error) {
	n, ok := h.manager.keys.intVal(h.manager.strip(key))
	if !ok || n > uint64(h.state.maxKey) || int(cf) >= h.manager.families {
		return 0, rocksdb.Corruption("unable to parse key", fmt.Sprintf("%X of column family %d", key, cf))
	}
	return int64(n), nil
}

// op runs one operation, unless all that are expected have run.
func (h *stateReplayer) op(cf uint32, key []byte, f func(cf int, key int64) error) error {
	if h.left == 0 {
		return errReplayed
	}
	n, err := h.key(cf, key)
	if err != nil {
		return err
	}
	if n == h.state.maxKey {
		return rocksdb.Corruption("unable to parse key", fmt.Sprintf("%X", key))
	}
	if err := f(int(cf), n); err != nil {
		return err
	}
	h.left--
	return nil
}

func (h *stateReplayer) put(cf uint32, key, value []byte) error {
	return h.op(cf, key, func(cf int, key int64) error {
		base, ok := getValueBase(value)
		if !ok {
			return rocksdb.Corruption("unable to parse value", fmt.Sprintf("%X", value))
		}
		h.state.syncPut(cf, key, base)
		return nil
	})
}

func (h *stateReplayer) delete(cf uint32, key []byte) error {
	return h.op(cf, key, func(cf int, key int64) error {
		h.state.syncDelete(cf, key)
		return nil
	})
}

func (h *stateReplayer) deleteRange(cf uint32, begin, end []byte) error {
	if h.left == 0 {
		return errReplayed
	}
	from, err := h.key(cf, begin)
	if err != nil {
		return err
	}
	to, err := h.key(cf, end)
	if err != nil {
		return err
	}
	for key := from; key < to; key++ {
		h.state.syncDelete(int(cf), key)
	}
	h.left--
	return nil
}

// The methods of writebatch.Handler.

func (h *stateReplayer) Continue() bool                           { return h.left > 0 }
func (h *stateReplayer) PutCF(cf uint32, key, value []byte) error { return h.put(cf, key, value) }
func (h *stateReplayer) MergeCF(cf uint32, key, operand []byte) error {
	return h.put(cf, key, operand)
}
func (h *stateReplayer) TimedPutCF(cf uint32, key, value []byte, _ uint64) error {
	return h.put(cf, key, value)
}
func (h *stateReplayer) DeleteCF(cf uint32, key []byte) error       { return h.delete(cf, key) }
func (h *stateReplayer) SingleDeleteCF(cf uint32, key []byte) error { return h.delete(cf, key) }
func (h *stateReplayer) DeleteRangeCF(cf uint32, begin, end []byte) error {
	return h.deleteRange(cf, begin, end)
}

func (h *stateReplayer) PutEntityCF(cf uint32, key, entity []byte) error {
	columns, err := wide.DeserializeSimple(nil, entity)
	if err != nil {
		return rocksdb.Corruption("Unable to deserialize entity", fmt.Sprintf("%X", entity))
	}
	if !h.manager.check(columns) {
		return rocksdb.Corruption("Wide columns in entity inconsistent", fmt.Sprintf("%X", entity))
	}
	return h.put(cf, key, defaultColumn(columns))
}

// PutBlobIndexCF is the next value: the trace has only where it is.
func (h *stateReplayer) PutBlobIndexCF(cf uint32, key, _ []byte) error {
	return h.op(cf, key, func(cf int, key int64) error {
		h.state.syncPut(cf, key, h.state.get(cf, key).nextValueBase())
		return nil
	})
}

func (h *stateReplayer) MarkBeginPrepare(bool) error {
	return rocksdb.NotSupported("expected state of prepared transactions")
}
