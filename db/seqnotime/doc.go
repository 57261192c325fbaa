// Package seqnotime keeps a sampled mapping from sequence numbers to the times
// they were written, which tiering decisions need and SSTs carry in a
// property, and packs times into the values of timed puts.
//
// Main type: SeqnoToTimeMapping.
//
// Invariant: in the enforced state (all but AddUnenforced and, in part,
// DecodeFrom and the copies keep it) pairs are strictly ascending in both
// sequence number and time, within capacity and time span; queries need that
// state. There are no locks; concurrent queries of an enforced mapping are safe.
//
// Read seqno_to_time_mapping.go.
package seqnotime
