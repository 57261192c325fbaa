// Package compaction decides what to compact and which entries survive.
//
// Main types:
//   - Picker and its kinds (LevelCompactionPicker, UniversalCompactionPicker,
//     FIFOCompactionPicker, NullCompactionPicker) choose files.
//   - Compaction is one choice: input files, output level, limits.
//   - CompactionIterator walks merged input and drops, merges and rewrites
//     entries. Flushes use it as well.
//   - ClippingIterator shows a part of an iterator's range.
//
// Invariants:
//   - The inputs of a level above 0 are a clean cut: no user key lies both in
//     an input file and in a neighbour that is not one.
//   - A file belongs to at most one running compaction (FileMetaData.BeingCompacted),
//     and no two running compactions write to overlapping ranges of one level.
//   - Of each user key, a CompactionIterator keeps at least the newest entry
//     that each snapshot sees.
//
// Pickers and Compactions are used under the database's mutex, apart from what
// a Compaction says otherwise; a CompactionIterator belongs to one goroutine.
// There is no lock in this package.
//
// Read compaction_picker.go first for choosing, compaction_iterator.go for
// rewriting.
package compaction
