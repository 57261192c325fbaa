// No upstream twin: Go package documentation.

// Package killpoint lets a stress test kill its process at named points of the
// engine.
//
// The engine calls Random("Class::Method:0") at upstream's places. With the
// build tag "killpoint" and odds set, the process dies there, as if its machine
// had taken it away: by SIGKILL, with nothing cleaned up. Without the tag the
// calls compile to nothing and Enabled is false.
package killpoint
