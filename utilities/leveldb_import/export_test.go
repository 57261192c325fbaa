// No upstream twin: what the tests of other packages look at.

package leveldbimport

import (
	"path/filepath"
	"slices"
)

// TableNames are the files of the tables that the MANIFEST names, sorted.
func (s *Source) TableNames() ([]string, error) {
	var names []string
	for _, f := range slices.Concat(s.levels...) {
		path, err := s.tablePath(f.FD.GetNumber())
		if err != nil {
			return nil, err
		}
		names = append(names, filepath.Base(path))
	}
	slices.Sort(names)
	return names, nil
}
