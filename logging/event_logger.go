// Port of logging/event_logger.{h,cc}. Differs: methods of typed values
// instead of stream operators; a stream is ended by End, since Go has no
// destructors; strings are escaped, which upstream leaves out.

package logging

import (
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// EventLogPrefix begins each event's line.
const EventLogPrefix = "EVENT_LOG_v1"

type jsonState uint8

// The states of a JSONWriter: what has to come next.
const (
	jsonExpectKey   jsonState = iota // AddKey makes it ExpectValue
	jsonExpectValue                  // a value makes it ExpectKey, StartArray InArray
	jsonInArray                      // EndArray makes it ExpectKey
)

// JSONWriter writes one JSON object, with upstream's blanks. A call out of
// turn leaves the text malformed.
type JSONWriter struct {
	buf          []byte
	state        jsonState
	firstElement bool
}

// NewJSONWriter begins an object; EndObject has to end it.
func NewJSONWriter() *JSONWriter { return &JSONWriter{buf: []byte{'{'}, firstElement: true} }

func (w *JSONWriter) comma() {
	if !w.firstElement {
		w.buf = append(w.buf, ", "...)
	}
	w.firstElement = false
}

// AddKey begins a member.
func (w *JSONWriter) AddKey(key string) {
	w.comma()
	w.buf = appendJSONString(w.buf, key)
	w.buf = append(w.buf, ": "...)
	w.state = jsonExpectValue
}

func (w *JSONWriter) beforeValue() {
	if w.state == jsonInArray {
		w.comma()
	} else {
		w.state = jsonExpectKey
	}
	w.firstElement = false
}

// AddString adds a value, quoted.
func (w *JSONWriter) AddString(v string) {
	w.beforeValue()
	w.buf = appendJSONString(w.buf, v)
}

// AddUint adds a value.
func (w *JSONWriter) AddUint(v uint64) {
	w.beforeValue()
	w.buf = strconv.AppendUint(w.buf, v, 10)
}

// AddInt adds a value.
func (w *JSONWriter) AddInt(v int64) {
	w.beforeValue()
	w.buf = strconv.AppendInt(w.buf, v, 10)
}

// AddFloat adds a value with six digits, as a C++ stream prints it.
func (w *JSONWriter) AddFloat(v float64) {
	w.beforeValue()
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.buf = append(w.buf, "null"...)
		return
	}
	w.buf = fmt.Appendf(w.buf, "%.6g", v)
}

// AddBool adds 1 or 0.
func (w *JSONWriter) AddBool(v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	w.AddUint(n)
}

// StartArray begins an array as a value.
func (w *JSONWriter) StartArray() {
	w.buf = append(w.buf, '[')
	w.state, w.firstElement = jsonInArray, true
}

// EndArray ends it.
func (w *JSONWriter) EndArray() {
	w.buf = append(w.buf, ']')
	w.state, w.firstElement = jsonExpectKey, false
}

// StartObject begins an object as a value.
func (w *JSONWriter) StartObject() {
	w.buf = append(w.buf, '{')
	w.state, w.firstElement = jsonExpectKey, true
}

// EndObject ends it.
func (w *JSONWriter) EndObject() {
	w.buf = append(w.buf, '}')
	w.state, w.firstElement = jsonExpectKey, false
}

// StartArrayedObject begins an object in an array.
func (w *JSONWriter) StartArrayedObject() {
	w.comma()
	w.StartObject()
}

// EndArrayedObject ends it.
func (w *JSONWriter) EndArrayedObject() {
	w.EndObject()
	w.state = jsonInArray
}

// Get is the text so far.
func (w *JSONWriter) Get() string { return string(w.buf) }

// appendJSONString quotes s; bytes that are no UTF-8 are kept as code points.
func appendJSONString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			} else {
				dst = append(dst, s[i:i+n]...)
			}
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c < 0x20 || c == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
		i++
	}
	return append(dst, '"')
}

// EventLoggerStream is one event being written: members in pairs, then End.
type EventLoggerStream struct {
	// JSON is for what Add cannot write, such as arrays.
	JSON       *JSONWriter
	logger     rocksdb.Logger
	buffer     *LogBuffer
	maxLogSize int
}

// Add adds a member whose value is a string, a bool or a number; other values
// are written as fmt prints them.
func (s *EventLoggerStream) Add(key string, value any) *EventLoggerStream {
	s.JSON.AddKey(key)
	s.AddValue(value)
	return s
}

// AddValue adds a value, as Add.
func (s *EventLoggerStream) AddValue(value any) {
	w := s.JSON
	switch v := value.(type) {
	case string:
		w.AddString(v)
	case bool:
		w.AddBool(v)
	case int:
		w.AddInt(int64(v))
	case int32:
		w.AddInt(int64(v))
	case int64:
		w.AddInt(v)
	case uint:
		w.AddUint(uint64(v))
	case uint8:
		w.AddUint(uint64(v))
	case uint32:
		w.AddUint(uint64(v))
	case uint64:
		w.AddUint(v)
	case float64:
		w.AddFloat(v)
	default:
		w.AddString(fmt.Sprint(v))
	}
}

// End logs the event.
func (s *EventLoggerStream) End() {
	s.JSON.EndObject()
	if s.buffer != nil {
		LogEventToBuffer(s.buffer, s.JSON, s.maxLogSize)
	} else {
		LogEvent(s.logger, s.JSON)
	}
}

// EventLogger logs events as JSON. A nil *EventLogger, or one of a nil Logger,
// logs nothing.
type EventLogger struct{ logger rocksdb.Logger }

// NewEventLogger logs to a Logger that may be nil.
func NewEventLogger(logger rocksdb.Logger) *EventLogger { return &EventLogger{logger} }

func newEvent() *JSONWriter {
	w := NewJSONWriter()
	w.AddKey("time_micros")
	w.AddInt(time.Now().UnixMicro())
	return w
}

// Log begins an event.
func (e *EventLogger) Log() *EventLoggerStream {
	s := &EventLoggerStream{JSON: newEvent()}
	if e != nil {
		s.logger = e.logger
	}
	return s
}

// LogToBuffer begins an event that goes to a buffer.
func (e *EventLogger) LogToBuffer(b *LogBuffer, maxLogSize int) *EventLoggerStream {
	return &EventLoggerStream{JSON: newEvent(), buffer: b, maxLogSize: maxLogSize}
}

// LogEvent logs a finished event.
func LogEvent(logger rocksdb.Logger, w *JSONWriter) {
	Log(logger, rocksdb.InfoLevel, "%s %s", EventLogPrefix, w.buf)
}

// LogEventToBuffer adds a finished event to a buffer that may be nil.
func LogEventToBuffer(b *LogBuffer, w *JSONWriter, maxLogSize int) {
	if b != nil {
		b.AddLogToBuffer(maxLogSize, "%s %s", EventLogPrefix, w.buf)
	}
}
