// No upstream twin: what the tests of this package look into.

package file

// BufferState is one buffer of a FilePrefetchBuffer: where it begins, how much it
// has or awaits, and whether it awaits it.
type BufferState struct {
	Offset     uint64
	Size       int
	InProgress bool
}

// BufferStates is upstream's TEST_GetBufferOffsetandSize.
func (b *FilePrefetchBuffer) BufferStates() (s []BufferState) {
	for _, i := range b.bufs {
		s = append(s, BufferState{i.offset, int(i.reach() - i.offset), i.inProgress})
	}
	return s
}

// OverlapState is upstream's TEST_GetOverlapBufferOffsetandSize.
func (b *FilePrefetchBuffer) OverlapState() BufferState {
	return BufferState{b.overlap.offset, len(b.overlap.data), false}
}
