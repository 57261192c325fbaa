// No upstream twin: package documentation.

// Package internaliter holds the iterator contract inside the engine and the
// small pieces every iterator stack is made of.
//
// Main types:
//   - InternalIterator: a cursor over internal keys (user key, sequence number,
//     type) of a memtable, a table, a level or a merge of these. Base gives the
//     optional methods; embed it.
//   - IteratorWrapper: a concrete holder of an InternalIterator that remembers
//     validity and key, so that a merge compares children without calls through
//     the interface.
//   - PinnedIteratorsManager: keeps blocks alive while keys and values point
//     into them.
//   - VectorIterator, and the empty and error iterators.
//
// Invariants:
//   - Valid() is false whenever Status() is not nil.
//   - Key() and Value() stay valid until the next move of the iterator, longer
//     only while IsKeyPinned or IsValuePinned and the pinning manager holds.
//   - Whoever made an iterator closes it, once; Close is what gives blocks and
//     memory back. An iterator belongs to one goroutine.
//
// There are no locks. Read internal_iterator.go first.
package internaliter
