// Package syncpoint lets a test order events in the engine and hook into it.
//
// The engine calls Process("Class::Method:point") or ProcessArg(point, arg) at
// named points; names are upstream's. Without the build tag "syncpoint" both
// compile to nothing and Enabled is false. A test guards hooks with
// `if !syncpoint.Enabled { … }` only where it cannot run without them; the
// project's own test command always sets the tag.
package syncpoint
