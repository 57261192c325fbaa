// Port of TracerHelper::DecodeTraceRecord of trace_replay/trace_replay.cc. Differs: a
// payload that is cut off or has a field of another type of record is a Corruption.

package tracereplay

import (
	"math/bits"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// DecodeTraceRecord makes the operation of a trace of that version; it keeps nothing
// of t. Other types of records are NotSupported.
func DecodeTraceRecord(t *Trace, fileVersion int) (TraceRecord, error) {
	switch t.Type {
	case TraceWrite:
		r := &WriteQueryTraceRecord{Timestamp: t.TS}
		if fileVersion < versionWithPayloadMap {
			r.WriteBatchRep = append(r.WriteBatchRep, t.Payload...)
			return r, nil
		}
		return r, decodePayload(t, func(p *payloadReader, f PayloadType) bool {
			r.WriteBatchRep = p.slice("write batch")
			return f == WriteBatchData
		})
	case TraceGet:
		r := &GetQueryTraceRecord{Timestamp: t.TS}
		if fileVersion < versionWithPayloadMap {
			return r, decodeOldPayload(t, &r.ColumnFamilyID, &r.Key)
		}
		return r, decodePayload(t, func(p *payloadReader, f PayloadType) bool {
			switch f {
			case GetCFID:
				p.fixed32(&r.ColumnFamilyID, "column family ID")
			case GetKey:
				r.Key = p.slice("key")
			}
			return f == GetCFID || f == GetKey
		})
	case TraceIteratorSeek, TraceIteratorSeekForPrev:
		return decodeSeek(t, fileVersion)
	case TraceMultiGet:
		return decodeMultiGet(t, fileVersion)
	}
	return nil, rocksdb.NotSupported("Unsupported trace type.")
}

func decodeSeek(t *Trace, fileVersion int) (TraceRecord, error) {
	r := &IteratorSeekQueryTraceRecord{Timestamp: t.TS, SeekType: t.Type}
	if fileVersion < versionWithPayloadMap {
		return r, decodeOldPayload(t, &r.ColumnFamilyID, &r.Key)
	}
	return r, decodePayload(t, func(p *payloadReader, f PayloadType) bool {
		switch f {
		case IterCFID:
			p.fixed32(&r.ColumnFamilyID, "column family ID")
		case IterKey:
			r.Key = p.slice("key")
		case IterLowerBound:
			r.LowerBound = p.slice("lower bound")
		case IterUpperBound:
			r.UpperBound = p.slice("upper bound")
		default:
			return false
		}
		return true
	})
}

func decodeMultiGet(t *Trace, fileVersion int) (TraceRecord, error) {
	if fileVersion < versionWithPayloadMap {
		return nil, rocksdb.Corruption("MultiGet is not supported.")
	}
	r := &MultiGetQueryTraceRecord{Timestamp: t.TS}
	var n uint32
	var ids, keys payloadReader
	err := decodePayload(t, func(p *payloadReader, f PayloadType) bool {
		switch f {
		case MultiGetSize:
			p.fixed32(&n, "number of keys")
		case MultiGetCFIDs:
			ids.p = p.slice("column family IDs")
		case MultiGetKeys:
			keys.p = p.slice("keys")
		default:
			return false
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, rocksdb.InvalidArgument("Empty MultiGet cf_ids or keys.")
	}
	for range n {
		var id uint32
		ids.fixed32(&id, "column family ID")
		key := keys.slice("key")
		if ids.lacks != "" || keys.lacks != "" {
			return nil, rocksdb.Corruptionf("Corrupted trace file. A MultiGet of %d keys lacks some.", n)
		}
		r.ColumnFamilyIDs, r.Keys = append(r.ColumnFamilyIDs, id), append(r.Keys, key)
	}
	return r, nil
}

// decodeOldPayload reads the family and the key, which are all that there is without
// a payload map.
func decodeOldPayload(t *Trace, family *uint32, key *[]byte) error {
	p := payloadReader{p: t.Payload}
	p.fixed32(family, "column family ID")
	*key = p.slice("key")
	return p.err()
}

// decodePayload calls field for each field of the payload's map, in order; false is
// a field that the type of record does not have.
func decodePayload(t *Trace, field func(p *payloadReader, f PayloadType) bool) error {
	p := payloadReader{p: t.Payload}
	var fields uint64
	p.fixed64(&fields, "payload map")
	for left := fields; left != 0; left &= left - 1 {
		if !field(&p, PayloadType(bits.TrailingZeros64(left))) {
			return rocksdb.Corruptionf("Corrupted trace file. A record of type %d with fields %#x.", t.Type, fields)
		}
	}
	if p.lacks != "" {
		return rocksdb.Corruption("Corrupted trace file. A record without its " + p.lacks + ".")
	}
	return nil
}
