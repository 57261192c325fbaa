// Port of db_stress_tool/expected_value.{h,cc}.

package dbstresstool

import "sync/atomic"

// The parts of an expected value.
const (
	valueBaseMask    = 0x7fff
	pendingWriteMask = 1 << 15
	delCounterMask   = 0x3fff0000
	delCounterDelta  = 1 << 16
	pendingDelMask   = 1 << 30
	delMask          = 1 << 31
)

// expectedValue is what is expected of a key:
//
//	bits 0-14   number of the value, from which its bytes follow
//	bit 15      a write of the next value is under way
//	bits 16-29  number of deletions
//	bit 30      a deletion is under way
//	bit 31      the key is deleted
type expectedValue uint32

func (v expectedValue) valueBase() uint32     { return uint32(v) & valueBaseMask }
func (v expectedValue) nextValueBase() uint32 { return (v.valueBase() + 1) & valueBaseMask }
func (v expectedValue) delCounter() uint32    { return uint32(v) & delCounterMask }
func (v expectedValue) nextDelCounter() uint32 {
	return (v.delCounter() + delCounterDelta) & delCounterMask
}
func (v expectedValue) pendingWrite() bool  { return v&pendingWriteMask != 0 }
func (v expectedValue) pendingDelete() bool { return v&pendingDelMask != 0 }
func (v expectedValue) isDeleted() bool     { return v&delMask != 0 }

// exists is for a key with nothing under way.
func (v expectedValue) exists() bool { return !v.isDeleted() }

func (v expectedValue) finalValueBase() uint32 {
	if v.pendingWrite() {
		return v.nextValueBase()
	}
	return v.valueBase()
}

func (v expectedValue) finalDelCounter() uint32 {
	if v.pendingDelete() {
		return v.nextDelCounter()
	}
	return v.delCounter()
}

func (v expectedValue) withValueBase(base uint32) expectedValue {
	return v&^valueBaseMask | expectedValue(base)
}

func (v expectedValue) beginPut() expectedValue { return v | pendingWriteMask }

func (v expectedValue) put() expectedValue {
	return v.withValueBase(v.nextValueBase()) &^ (delMask | pendingWriteMask)
}

func (v expectedValue) beginDelete() expectedValue { return v | pendingDelMask }

func (v expectedValue) deleted() expectedValue {
	return (v&^delCounterMask | expectedValue(v.nextDelCounter()) | delMask) &^ pendingDelMask
}

// syncPut is the value after the database was seen to have base; what was under
// way is settled.
func (v expectedValue) syncPut(base uint32) expectedValue {
	return v.withValueBase(base&valueBaseMask) &^ (delMask | pendingWriteMask | pendingDelMask)
}

func (v expectedValue) syncDelete() expectedValue { return v.deleted() &^ pendingWriteMask }

// pendingExpectedValue is a write under way: Commit or Rollback ends it.
type pendingExpectedValue struct {
	word        *atomic.Uint32
	orig, final expectedValue
}

func (p *pendingExpectedValue) commit()                { p.word.Store(uint32(p.final)) }
func (p *pendingExpectedValue) rollback()              { p.word.Store(uint32(p.orig)) }
func (p *pendingExpectedValue) finalValueBase() uint32 { return p.final.valueBase() }

// mustHaveNotExisted tells of the word before and after a read that the key
// cannot have been there.
func mustHaveNotExisted(pre, post expectedValue) bool {
	return pre.isDeleted() && pre.valueBase() == post.finalValueBase()
}

// mustHaveExisted tells that the key must have been there.
func mustHaveExisted(pre, post expectedValue) bool {
	return !pre.isDeleted() && pre.delCounter() == post.finalDelCounter()
}

// inExpectedValueBaseRange tells whether the read may have given the value.
func inExpectedValueBaseRange(base uint32, pre, post expectedValue) bool {
	lo, hi := pre.valueBase(), post.finalValueBase()
	if lo <= hi {
		return lo <= base && base <= hi
	}
	return base <= hi || lo <= base && base <= valueBaseMask
}
