// Port of options/customizable.cc and
// include/rocksdb/utilities/customizable_util.h.

package options

import (
	"reflect"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// objectID is what is written of a plug-in: its ID, its text form, or its name.
func objectID(obj any) string {
	switch o := obj.(type) {
	case rocksdb.WithID:
		return o.ID()
	case interface{ AsString() string }:
		return o.AsString()
	case rocksdb.Customizable:
		return o.Name()
	}
	return ""
}

func serializeObject(cfg *rocksdb.ConfigOptions, obj any) (string, error) {
	id := objectID(obj)
	_, named := obj.(rocksdb.Customizable)
	if named && (cfg.IsShallow() || id == "") {
		return id, nil
	}
	sets := optionSetsOf(obj)
	opts, err := GetOptionString(cfg, sets)
	if err != nil {
		return "", err
	}
	if sc, ok := stringConfigurable(obj); ok {
		for _, p := range sc.OptionPairs() {
			opts += p.Name + "=" + p.Value + cfg.Delimiter
		}
	}
	target, err := serializeTarget(cfg, sets)
	if err != nil {
		return "", err
	}
	opts += target
	if opts == "" || !named {
		return id + opts, nil
	}
	return idPropName + "=" + id + cfg.Delimiter + opts, nil
}

// serializeTarget writes what the object of the sets wraps, where that is not
// the default object.
func serializeTarget(cfg *rocksdb.ConfigOptions, sets []OptionSet) (string, error) {
	for _, set := range sets {
		for i := range set.Table.Rows {
			row := &set.Table.Rows[i]
			if row.Flags&WrappedTarget == 0 {
				continue
			}
			target := row.objectCodec().object(row.Field(set.Ptr))
			if c, ok := target.(rocksdb.Customizable); !ok || rocksdb.IsInstanceOf(c, row.objectCodec().defaultName()) {
				continue
			}
			value, err := ObjectToString(cfg, target)
			return row.Name + "=" + value, err
		}
	}
	return "", nil
}

// ObjectToString writes a plug-in: its ID, or "{id=…;name=value;…}" when it has
// options.
func ObjectToString(cfg *rocksdb.ConfigOptions, obj any) (string, error) {
	s, err := serializeObject(cfg, obj)
	if err != nil || !strings.Contains(s, "=") {
		return s, err
	}
	return "{" + s + "}", nil
}

// GetObjectOption writes one option of a plug-in; "id" is its ID.
func GetObjectOption(cfg *rocksdb.ConfigOptions, obj any, name string) (string, error) {
	if name == idPropName {
		return objectID(obj), nil
	}
	short := optionNameOf(obj, name)
	if sc, ok := stringConfigurable(obj); ok {
		for _, p := range sc.OptionPairs() {
			if p.Name == short {
				return p.Value, nil
			}
		}
	}
	return GetOption(cfg, optionSetsOf(obj), short)
}

func sameObject(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	t := reflect.TypeOf(a)
	return t == reflect.TypeOf(b) && t.Comparable() && a == b
}

// ObjectsAreEquivalent compares two plug-ins as cfg's sanity level asks: their
// IDs and, for an exact match, their options.
func ObjectsAreEquivalent(cfg *rocksdb.ConfigOptions, a, b any) (ok bool, mismatch string) {
	if cfg.IsCheckDisabled() || sameObject(a, b) {
		return true, ""
	}
	if a == nil || b == nil {
		return false, ""
	}
	if objectID(a) != objectID(b) {
		return false, idPropName
	}
	if cfg.SanityLevel <= rocksdb.SanityLevelLooselyCompatible {
		return true, ""
	}
	as, bs := optionSetsOf(a), optionSetsOf(b)
	if len(as) != len(bs) {
		return false, ""
	}
	for i := range as {
		if as[i].Table != bs[i].Table {
			return false, as[i].Table.Name
		}
		if ok, mismatch = tablesEqual(cfg, as[i].Table, as[i].Ptr, bs[i].Ptr, rowEqualOrByName); !ok {
			return false, mismatch
		}
	}
	if sa, isString := stringConfigurable(a); isString {
		sb, bothString := stringConfigurable(b)
		if !bothString {
			return false, ""
		}
		pa, pb := sa.OptionPairs(), sb.OptionPairs()
		for i := range pa {
			if i >= len(pb) || pa[i] != pb[i] {
				return false, pa[i].Name
			}
		}
	}
	return true, ""
}

// CreateFromString makes a plug-in of a kind (see package utilities/registry)
// from its ID or "{id=…;name=value;…}". The zero value without an error means
// none: value is empty or "nullptr", or cfg ignores that it is not supported.
func CreateFromString[T any](cfg *rocksdb.ConfigOptions, kind, value string) (T, error) {
	var none T
	result, _, err := loadObject(cfg, kind, value, none)
	return result, err
}

// loadObject is CreateFromString with the object there is: options without an
// ID are of its kind, and options left out keep its values. set is false when
// the object there is stays.
func loadObject[T any](cfg *rocksdb.ConfigOptions, kind, value string, current T) (result T, set bool, err error) {
	var id string
	var props map[string]string
	if value != "" && value != nullptrString {
		if any(current) == nil {
			id, props = optionsMap(value, "")
		} else {
			id, props = optionsMap(value, objectID(current))
			if c, ok := any(current).(rocksdb.Customizable); ok && rocksdb.IsInstanceOf(c, id) {
				props = withCurrent(cfg, current, props)
			}
		}
	}
	if id == "" {
		if len(props) > 0 {
			return result, false, rocksdb.NotSupported("Cannot reset object ")
		}
		return result, true, nil
	}
	result, err = registry.NewObject[T](cfg, kind, id)
	if err != nil {
		if cfg.IgnoreUnsupportedOptions && rocksdb.IsNotSupported(err) {
			return current, false, nil
		}
		return current, false, err
	}
	if len(props) > 0 || cfg.InvokePrepareOptions {
		if err := ConfigureObject(cfg, result, props); err != nil {
			return current, false, err
		}
	}
	return result, true, nil
}

// withCurrent adds the options of the object there is that props leaves out.
func withCurrent(cfg *rocksdb.ConfigOptions, current any, props map[string]string) map[string]string {
	embedded := *cfg
	embedded.Delimiter = ";"
	s, err := serializeObject(&embedded, current)
	if err != nil || !strings.Contains(s, "=") {
		return props
	}
	all, err := StringToMap(s)
	if err != nil {
		return props
	}
	delete(all, idPropName)
	for k, v := range props {
		all[k] = v
	}
	return all
}

// customCodec is the codec of a plug-in of interface type T.
type customCodec[T any] struct {
	kind string
	// nilName is what stands for a nil field: the name of the default object,
	// or "" for "nullptr".
	nilName string
	// emptyID is the ID that an empty value stands for; "" is no object.
	emptyID string
}

// CustomCodec is the codec of a plug-in of interface type T and a kind of the
// registry. A nil field is written as nilName, the default plug-in's name, or
// as "nullptr" where that is empty.
func CustomCodec[T any](kind, nilName string) Codec {
	return &customCodec[T]{kind: kind, nilName: nilName}
}

func (c *customCodec[T]) object(addr any) any { return any(*addr.(*T)) }
func (c *customCodec[T]) replaceable() bool   { return true }
func (c *customCodec[T]) defaultName() string { return c.nilName }

func (c *customCodec[T]) Parse(cfg *rocksdb.ConfigOptions, _, value string, addr any) error {
	p := addr.(*T)
	if value == "" {
		value = c.emptyID
	}
	result, set, err := loadObject(cfg, c.kind, value, *p)
	if err != nil {
		if c.nilName != "" && value == c.nilName && rocksdb.IsNotSupported(err) {
			var none T
			*p = none
			return nil
		}
		return err
	}
	if set {
		*p = result
	}
	return nil
}

func (c *customCodec[T]) Serialize(cfg *rocksdb.ConfigOptions, _ string, addr any) (string, error) {
	if obj := c.object(addr); obj != nil {
		return ObjectToString(cfg, obj)
	}
	if c.nilName != "" {
		return c.nilName, nil
	}
	return nullptrString, nil
}

func (c *customCodec[T]) Equal(cfg *rocksdb.ConfigOptions, _ string, a, b any) (bool, string) {
	x, y := c.object(a), c.object(b)
	if c.nilName != "" {
		if x == nil && y != nil {
			return objectID(y) == c.nilName, ""
		}
		if y == nil && x != nil {
			return objectID(x) == c.nilName, ""
		}
	}
	return ObjectsAreEquivalent(cfg, x, y)
}

// nestedCodec is the codec of an object that is part of another: values change
// its options, never the object.
type nestedCodec[T any] struct{}

// NestedCodec is the codec of a field of interface type T whose object belongs
// to the struct.
func NestedCodec[T any]() Codec { return nestedCodec[T]{} }

func (nestedCodec[T]) object(addr any) any { return any(*addr.(*T)) }
func (nestedCodec[T]) replaceable() bool   { return false }
func (nestedCodec[T]) defaultName() string { return "" }

func (c nestedCodec[T]) Parse(cfg *rocksdb.ConfigOptions, name, value string, addr any) error {
	if value == "" {
		return nil
	}
	obj := c.object(addr)
	if obj == nil {
		return rocksdb.NotFound("Could not find configurable: ", name)
	}
	strict := *cfg
	strict.IgnoreUnknownOptions = false
	if strings.Contains(value, "=") {
		return ConfigureObjectFromString(&strict, obj, value)
	}
	return ConfigureObjectOption(&strict, obj, name, value)
}

func (c nestedCodec[T]) Serialize(cfg *rocksdb.ConfigOptions, _ string, addr any) (string, error) {
	if obj := c.object(addr); obj != nil {
		return ObjectToString(cfg, obj)
	}
	return "", nil
}

func (c nestedCodec[T]) Equal(cfg *rocksdb.ConfigOptions, _ string, a, b any) (bool, string) {
	return ObjectsAreEquivalent(cfg, c.object(a), c.object(b))
}
