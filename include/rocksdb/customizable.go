// Port of include/rocksdb/customizable.h. Differs: plain interfaces; objects
// are made by package utilities/registry.

package rocksdb

// Customizable is a plug-in known by name in option strings and OPTIONS files.
type Customizable interface {
	// Name is upstream's class name.
	Name() string
}

// WithID is a plug-in whose identity in OPTIONS files has more than the name.
type WithID interface{ ID() string }

// WithNickName is a plug-in with a second, short name.
type WithNickName interface{ NickName() string }

// IDOf gives what the OPTIONS file keeps of a plug-in: its ID or its name.
func IDOf(c Customizable) string {
	if w, ok := c.(WithID); ok {
		return w.ID()
	}
	return c.Name()
}

// IsInstanceOf tells whether c goes by that name or nickname.
func IsInstanceOf(c Customizable, name string) bool {
	if name == "" {
		return false
	}
	if name == c.Name() {
		return true
	}
	n, ok := c.(WithNickName)
	return ok && n.NickName() == name
}

// WithInner is a plug-in that wraps another, which may be nil.
type WithInner interface{ Inner() Customizable }

// CheckedCast gives c as a T: itself, or the first of the plug-ins it wraps
// that is one.
func CheckedCast[T any](c Customizable) (t T, ok bool) {
	for c != nil {
		if t, ok = c.(T); ok {
			return t, true
		}
		w, wraps := c.(WithInner)
		if !wraps {
			break
		}
		c = w.Inner()
	}
	return t, false
}
