// Port of db/internal_stats.h (InternalStats::ppt_name_to_info).

package db

import (
	"maps"
	"slices"
)

// PropertyNames gives the names of all properties, sorted; some want an
// argument behind.
func PropertyNames() []string { return slices.Sorted(maps.Keys(properties)) }
