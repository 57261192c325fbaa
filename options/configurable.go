// Port of options/{configurable.cc,configurable_helper.h}. Differs: functions
// over option sets instead of a base class. An object takes part by naming its
// option sets, by rocksdb.Configurable with one of the tables known here, or by
// rocksdb.StringConfigurable.

package options

import (
	"sort"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// OptionSet is a table with the struct it is applied to.
type OptionSet struct {
	Table *Table
	Ptr   any
}

// HasOptionSets is an object with options described by tables.
type HasOptionSets interface{ OptionSets() []OptionSet }

func optionSetsOf(obj any) []OptionSet {
	switch o := obj.(type) {
	case HasOptionSets:
		return o.OptionSets()
	case rocksdb.Configurable:
		var sets []OptionSet
		for _, t := range objectTables {
			if p := o.OptionsPtr(t.Name); p != nil {
				sets = append(sets, OptionSet{t, p})
			}
		}
		return sets
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// ConfigureFromMap sets options by name in the sets. Names that no set has go
// to unused or, where that is nil, are NotFound unless cfg ignores them. On an
// error the structs are as they were.
func ConfigureFromMap(cfg *rocksdb.ConfigOptions, opts map[string]string, sets []OptionSet, unused map[string]string) error {
	return configure(cfg, opts, sets, nil, unused)
}

// ConfigureObject sets an object's options by name.
func ConfigureObject(cfg *rocksdb.ConfigOptions, obj any, opts map[string]string) error {
	return configure(cfg, opts, optionSetsOf(obj), obj, nil)
}

// ConfigureObjectFromString sets an object's options by "name=value;…".
func ConfigureObjectFromString(cfg *rocksdb.ConfigOptions, obj any, opts string) error {
	if !strings.ContainsAny(opts, ";=") {
		if cfg.InvokePrepareOptions {
			return prepareOptions(cfg, optionSetsOf(obj), obj)
		}
		return nil
	}
	m, err := StringToMap(opts)
	if err != nil {
		return err
	}
	return ConfigureObject(cfg, obj, m)
}

// ConfigureObjectOption sets one option of an object.
func ConfigureObjectOption(cfg *rocksdb.ConfigOptions, obj any, name, value string) error {
	short := optionNameOf(obj, name)
	for _, set := range optionSetsOf(obj) {
		if row, elem := set.Table.Find(short); row != nil {
			return configureOne(cfg, row, short, elem, value, set.Ptr)
		}
	}
	if sc, ok := stringConfigurable(obj); ok {
		return sc.ConfigureOption(cfg, short, value)
	}
	return rocksdb.NotFound("Could not find option", name)
}

// optionNameOf takes the object's own name off the front of an option's.
func optionNameOf(obj any, name string) string {
	if c, ok := obj.(rocksdb.Customizable); ok {
		if short, found := strings.CutPrefix(name, c.Name()+"."); found && short != "" {
			return short
		}
	}
	return name
}

func configure(cfg *rocksdb.ConfigOptions, opts map[string]string, sets []OptionSet, obj any, unused map[string]string) (err error) {
	saved := make([]any, len(sets))
	for i, s := range sets {
		saved[i] = s.Table.copyOf(s.Ptr)
	}
	if len(opts) > 0 {
		c := *cfg
		c.InvokePrepareOptions = false
		err = configureSets(&c, opts, sets, obj, unused)
	}
	if err == nil && cfg.InvokePrepareOptions {
		err = prepareOptions(cfg, sets, obj)
	}
	if err != nil {
		for i, s := range sets {
			s.Table.restore(s.Ptr, saved[i])
		}
	}
	return err
}

func configureSets(cfg *rocksdb.ConfigOptions, opts map[string]string, sets []OptionSet, obj any, unused map[string]string) (err error) {
	remaining := make(map[string]string, len(opts))
	for k, v := range opts {
		remaining[k] = v
	}
	for _, set := range sets {
		err = configureSome(cfg, set, obj, remaining)
		if len(remaining) == 0 || err != nil {
			break
		}
	}
	if sc, ok := stringConfigurable(obj); ok && err == nil {
		for _, k := range sortedKeys(remaining) {
			e := sc.ConfigureOption(cfg, optionNameOf(obj, k), remaining[k])
			if rocksdb.IsNotFound(e) {
				continue
			}
			delete(remaining, k)
			if err == nil {
				err = e
			}
		}
	}
	if unused != nil {
		for k, v := range remaining {
			unused[k] = v
		}
	}
	if cfg.IgnoreUnknownOptions {
		return nil
	}
	if err == nil && unused == nil && len(remaining) > 0 {
		return rocksdb.NotFound("Extra option not recognized", sortedKeys(remaining)[0])
	}
	return err
}

// configureSome sets what the set has of remaining and takes it out. Options
// may depend on each other (a part of an object on the object), so what is not
// found at first is tried again as long as anything was set.
func configureSome(cfg *rocksdb.ConfigOptions, set OptionSet, obj any, remaining map[string]string) error {
	var result, unsupported error
	notSupported := map[string]bool{}
	for found := true; found && len(remaining) > 0; {
		found, unsupported = false, nil
		for _, key := range idsFirst(sortedKeys(remaining)) {
			name := optionNameOf(obj, key)
			row, elem := set.Table.Find(name)
			if row == nil {
				continue
			}
			err := configureOne(cfg, row, name, elem, remaining[key], set.Ptr)
			switch {
			case rocksdb.IsNotFound(err):
			case rocksdb.IsNotSupported(err):
				unsupported = err
				notSupported[key] = true
			default:
				found = true
				delete(remaining, key)
				if err != nil {
					result = err
				}
			}
		}
	}
	for key := range notSupported {
		delete(remaining, key)
	}
	switch {
	case cfg.IgnoreUnknownOptions:
		return nil
	case result != nil:
		return result
	case cfg.IgnoreUnsupportedOptions:
		return nil
	}
	return unsupported
}

// idsFirst moves the names that choose an object before those that change one.
func idsFirst(keys []string) []string {
	sort.SliceStable(keys, func(i, j int) bool {
		return strings.HasSuffix(keys[i], idPropSuffix) && !strings.HasSuffix(keys[j], idPropSuffix)
	})
	return keys
}

func configureOne(cfg *rocksdb.ConfigOptions, row *Row, name, elem, value string, base any) error {
	if row.Verification == Deprecated {
		return parseChecked(cfg, row, name, value, base)
	}
	oc := row.objectCodec()
	if oc != nil && oc.replaceable() {
		return configureCustomizable(cfg, row, oc, name, elem, value, base)
	}
	if name != elem && oc == nil && !row.isStruct() {
		return rocksdb.NotFound("Unknown how to configure option", elem)
	}
	return parseChecked(cfg, row, elem, value, base)
}

// parseChecked refuses immutable options where only mutable ones may be set.
func parseChecked(cfg *rocksdb.ConfigOptions, row *Row, name, value string, base any) error {
	if !cfg.MutableOptionsOnly {
		return row.Parse(cfg, name, value, base)
	}
	if !row.IsMutable() {
		return rocksdb.InvalidArgument("Option not changeable: " + name)
	}
	c := *cfg
	c.MutableOptionsOnly = false
	return row.Parse(&c, name, value, base)
}

func configureCustomizable(cfg *rocksdb.ConfigOptions, row *Row, oc objectCodec, name, elem, value string, base any) error {
	obj := oc.object(row.Field(base))
	isID := elem == idPropName || strings.HasSuffix(name, idPropSuffix)
	c := *cfg
	if row.IsMutable() {
		c.MutableOptionsOnly = false
	}
	if !c.MutableOptionsOnly {
		switch {
		case name == elem || isID:
			return parseChecked(&c, row, elem, value, base)
		case value == "":
			return nil
		case obj == nil || !strings.HasPrefix(elem, objectID(obj)+"."):
			return parseChecked(&c, row, elem, value, base)
		case strings.Contains(value, "="):
			return ConfigureObjectFromString(&c, obj, value)
		}
		return ConfigureObjectOption(&c, obj, elem, value)
	}
	notChangeable := rocksdb.InvalidArgument("Option not changeable: " + name)
	switch {
	case obj == nil:
		if value == "" {
			return nil
		}
		return notChangeable
	case isID:
		if objectID(obj) == value {
			return nil
		}
		return notChangeable
	case name == elem:
		id, props := optionsMap(value, objectID(obj))
		if id != objectID(obj) {
			return notChangeable
		}
		if len(props) == 0 {
			return nil
		}
		return ConfigureObject(&c, obj, props)
	}
	return ConfigureObjectOption(&c, obj, elem, value)
}

// prepareOptions completes the plug-ins of the sets and obj itself.
func prepareOptions(cfg *rocksdb.ConfigOptions, sets []OptionSet, obj any) error {
	for _, set := range sets {
		for i := range set.Table.Rows {
			row := &set.Table.Rows[i]
			oc := row.objectCodec()
			if oc == nil || row.Verification == Deprecated || row.Verification == Alias || row.Flags&DontPrepare != 0 {
				continue
			}
			// A missing object stands for the default one, which needs nothing.
			if o := oc.object(row.Field(set.Ptr)); o != nil {
				if err := prepareOptions(cfg, optionSetsOf(o), o); err != nil {
					return err
				}
			}
		}
	}
	if p, ok := obj.(rocksdb.OptionsPreparer); ok {
		return p.PrepareOptions(cfg)
	}
	return nil
}

// ValidateOptions lets all plug-ins check the options around them.
func ValidateOptions(db *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions) error {
	return validateSets(db, cf, []OptionSet{{dbOptionsTable, db}, {cfOptionsTable, cf}}, nil)
}

func validateSets(db *rocksdb.DBOptions, cf *rocksdb.ColumnFamilyOptions, sets []OptionSet, obj any) error {
	for _, set := range sets {
		for i := range set.Table.Rows {
			row := &set.Table.Rows[i]
			oc := row.objectCodec()
			if oc == nil || row.Verification == Deprecated || row.Verification == Alias {
				continue
			}
			if o := oc.object(row.Field(set.Ptr)); o != nil {
				if err := validateSets(db, cf, optionSetsOf(o), o); err != nil {
					return err
				}
			}
		}
	}
	if v, ok := obj.(rocksdb.OptionsValidator); ok {
		return v.ValidateOptions(db, cf)
	}
	return nil
}

// serializeRows writes the options of a table, each followed by cfg.Delimiter.
func serializeRows(cfg *rocksdb.ConfigOptions, t *Table, base any, prefix string) (string, error) {
	var b strings.Builder
	for i := range t.Rows {
		row := &t.Rows[i]
		if !row.ShouldSerialize() {
			continue
		}
		c := *cfg
		if cfg.MutableOptionsOnly {
			switch {
			case row.IsMutable():
				c.MutableOptionsOnly = false
			case row.objectCodec() == nil || !cfg.IsDetailed() && row.Flags&StringNameOnly != 0:
				continue
			}
		}
		value, err := row.Serialize(&c, prefix+row.Name, base)
		if err != nil {
			return "", err
		}
		if value != "" {
			b.WriteString(prefix + row.Name + "=" + value + cfg.Delimiter)
		}
	}
	return b.String(), nil
}

// GetOptionString writes the options of the sets, each followed by
// cfg.Delimiter.
func GetOptionString(cfg *rocksdb.ConfigOptions, sets []OptionSet) (string, error) {
	var b strings.Builder
	for _, set := range sets {
		s, err := serializeRows(cfg, set.Table, set.Ptr, "")
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// GetOption writes the value of one option.
func GetOption(cfg *rocksdb.ConfigOptions, sets []OptionSet, name string) (string, error) {
	embedded := *cfg
	embedded.Delimiter = ";"
	for _, set := range sets {
		row, elem := set.Table.Find(name)
		if row == nil || row.Verification == Deprecated {
			continue
		}
		if name == elem || row.isStruct() {
			return row.Serialize(&embedded, elem, set.Ptr)
		}
		if oc := row.objectCodec(); oc != nil {
			if o := oc.object(row.Field(set.Ptr)); o != nil {
				return GetObjectOption(&embedded, o, elem)
			}
		}
	}
	return "", rocksdb.NotFound("Cannot find option: ", name)
}

// GetOptionNames lists the options of the sets, those that changed once or are
// second names left out.
func GetOptionNames(cfg *rocksdb.ConfigOptions, sets []OptionSet) []string {
	var names []string
	for _, set := range sets {
		for i := range set.Table.Rows {
			row := &set.Table.Rows[i]
			if row.Verification != Deprecated && row.Verification != Alias &&
				(!cfg.MutableOptionsOnly || row.IsMutable()) {
				names = append(names, row.Name)
			}
		}
	}
	sort.Strings(names)
	return names
}

// rowEqual compares one option of two structs.
type rowEqual func(cfg *rocksdb.ConfigOptions, row *Row, a, b any) (ok bool, mismatch string)

// rowEqualOrByName compares by value and then, where the row allows it, by what
// is written.
func rowEqualOrByName(cfg *rocksdb.ConfigOptions, row *Row, a, b any) (bool, string) {
	ok, mismatch := row.AreEqual(cfg, row.Name, a, b)
	if ok {
		return true, ""
	}
	if row.isByName() {
		if theirs, err := row.Serialize(cfg, row.Name, b); err == nil &&
			row.AreEqualByName(cfg, row.Name, a, theirs) {
			return true, ""
		}
	}
	return false, mismatch
}

// rowEqualByMap compares plug-ins with what the file says of them, opts; where
// it says nothing they are equal. A plug-in named in the file but absent here
// is a difference.
func rowEqualByMap(opts map[string]string) rowEqual {
	return func(cfg *rocksdb.ConfigOptions, row *Row, a, b any) (bool, string) {
		ok, mismatch := row.AreEqual(cfg, row.Name, a, b)
		value, inFile := opts[row.Name]
		if !ok && row.isByName() {
			ok = !inFile || row.AreEqualByName(cfg, row.Name, a, value)
		}
		if oc := row.objectCodec(); ok && oc != nil && inFile && row.Verification != Alias {
			// What the codec writes for no object (the default's name) is no
			// difference.
			if oc.object(row.Field(a)) == nil && value != "" && value != nullptrString {
				if def, err := oc.Serialize(cfg, row.Name, row.Field(a)); err != nil || def != value {
					return false, row.Name
				}
			}
		}
		if ok {
			return true, ""
		}
		return false, mismatch
	}
}

// tablesEqual compares two structs as cfg's sanity level asks.
func tablesEqual(cfg *rocksdb.ConfigOptions, t *Table, a, b any, equal rowEqual) (ok bool, mismatch string) {
	for i := range t.Rows {
		row := &t.Rows[i]
		if !cfg.IsCheckEnabled(row.SanityLevel()) {
			continue
		}
		c := cfg
		if cfg.MutableOptionsOnly {
			if !row.IsMutable() {
				continue
			}
			all := *cfg
			all.MutableOptionsOnly = false
			c = &all
		}
		if ok, mismatch = equal(c, row, a, b); !ok {
			return false, mismatch
		}
	}
	return true, ""
}

// optionsMap takes the value of a plug-in's option apart: its ID, defaultID
// where none is given, and the options that come with it.
func optionsMap(value, defaultID string) (id string, props map[string]string) {
	if value == "" || value == nullptrString {
		return defaultID, nil
	}
	if !strings.Contains(value, "=") {
		return value, nil
	}
	props, err := StringToMap(value)
	if err != nil {
		return value, nil
	}
	if id, ok := props[idPropName]; ok {
		delete(props, idPropName)
		if id == nullptrString {
			id = ""
		}
		return id, props
	}
	if defaultID != "" {
		return defaultID, props
	}
	return value, nil
}
