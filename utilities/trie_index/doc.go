// No upstream twin: Go package documentation.

// Package trieindex has what a trie as a table's index is made of: bit vectors with
// rank and select (Bitvector), and rising sequences of numbers in few bits
// (EliasFano). Their bytes are those of upstream's user-defined index "trie_index",
// the trie over them is not there yet.
//
// Numbers are little-endian. What is read is checked as a whole, so that lookups
// need no checks: a wrong rank or hint is Corruption.
package trieindex
