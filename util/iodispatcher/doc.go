// Package iodispatcher hands groups of block reads to the file system and
// bounds the memory of what they have read ahead.
//
// Main types: IODispatcher, which makes a blockbased.ReadSet of each job;
// TrackingIODispatcher, which keeps them for tests. What a ReadSet does is in
// table/block_based/read_set.go: read that first.
//
// Invariants: the memory in use never exceeds the limit; blocks that find none
// wait, and are read when they are asked for or some is given back.
//
// Locks: IODispatcher.mu is innermost; no ReadSet is called with it held.
package iodispatcher
