// Package memtable holds the ordered containers a memtable keeps its entries
// in, and the manager of the memory they take.
//
// Main types:
//   - InlineSkipList: the default container's list; nodes and keys in one piece
//     of arena memory, inserts concurrent with each other and with reads.
//   - MemTableRep, RepFactory: a container and its maker. SkipListRep is the
//     default and is called concretely by package db/memtable; VectorRep,
//     HashSkipListRep and HashLinkListRep serve special loads.
//   - SkipList: the list without inline keys, for the hash reps and others.
//   - WriteBufferManager: memory of all memtables of one or more databases.
//
// An entry is what the containers order. It is immutable once inserted, except
// for its value under in-place updates:
//
//	varint32 n         length of the internal key
//	n bytes            internal key: user key, then fixed64 seq<<8 | type
//	varint32 m         length of the value
//	m bytes            value
//	0..8 bytes         checksum, if memtable_protection_bytes_per_key is set
//
// Entries are ordered by user key, then by falling sequence number; two entries
// equal in both are duplicates, whatever their types.
//
// Invariants:
//   - Nodes are never freed but with the whole arena; readers hold a reference
//     on the memtable meanwhile.
//   - A node's key and height are final before any link to it is stored; links
//     are stored with release and loaded with acquire order.
//   - At each level the nodes are in strictly rising order, and a node of a
//     level is in all levels below.
//
// The lists take no locks. WriteBufferManager's queue lock and its cache lock
// are leaves.
//
// Read inlineskiplist.go first, then skiplistrep.go.
package memtable
