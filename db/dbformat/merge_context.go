// Port of db/merge_context.h.

package dbformat

import "slices"

// MergeContext collects the merge operands of one key. Operands that are not
// pinned are copied into a buffer of its own. The zero value is ready; Clear
// keeps the buffers.
type MergeContext struct {
	operands [][]byte
	reversed bool // operands are newest first
	arena    []byte
}

// Clear drops all operands.
func (m *MergeContext) Clear() {
	m.operands = m.operands[:0]
	m.arena = m.arena[:0]
	m.reversed = true
}

// PushOperand adds an operand older than all there are.
func (m *MergeContext) PushOperand(operand []byte, pinned bool) {
	m.setDirection(true)
	m.operands = append(m.operands, m.keep(operand, pinned))
}

// PushOperandBack adds an operand newer than all there are.
func (m *MergeContext) PushOperandBack(operand []byte, pinned bool) {
	m.setDirection(false)
	m.operands = append(m.operands, m.keep(operand, pinned))
}

// keep copies into the arena; a full arena is left to the operands that point
// into it and a new one begun.
func (m *MergeContext) keep(operand []byte, pinned bool) []byte {
	if pinned {
		return operand
	}
	if cap(m.arena)-len(m.arena) < len(operand) {
		m.arena = make([]byte, 0, max(256, 2*cap(m.arena), len(operand)))
	}
	n := len(m.arena)
	m.arena = append(m.arena, operand...)
	return m.arena[n:len(m.arena):len(m.arena)]
}

// GetNumOperands counts the operands.
func (m *MergeContext) GetNumOperands() int { return len(m.operands) }

// GetOperand gives the i-th operand, the oldest being the 0th.
func (m *MergeContext) GetOperand(i int) []byte {
	m.setDirection(false)
	return m.operands[i]
}

// GetOperands gives the operands, oldest first.
func (m *MergeContext) GetOperands() [][]byte {
	m.setDirection(false)
	return m.operands
}

// GetOperandsDirectionBackward gives the operands, newest first.
func (m *MergeContext) GetOperandsDirectionBackward() [][]byte {
	m.setDirection(true)
	return m.operands
}

func (m *MergeContext) setDirection(reversed bool) {
	if m.reversed != reversed {
		slices.Reverse(m.operands)
		m.reversed = reversed
	}
}
