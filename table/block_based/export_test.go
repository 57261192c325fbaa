// No upstream twin.
package blockbased

// SetContextChecksum replaces the random base of the block checksums.
func (b *BlockBasedTableBuilder) SetContextChecksum(v uint32) { b.contextChecksum = v }

// FooterText describes the footer.
func (t *BlockBasedTable) FooterText() string { return t.footer.ToString() }

// BaseContextChecksum is the footer's.
func (t *BlockBasedTable) BaseContextChecksum() uint32 { return t.footer.BaseContextChecksum }
