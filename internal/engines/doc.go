// Package engines lets tests drive real RocksDB engines: Debian's tools 7.8.3
// and the npm engines 9.7.4, 10.5.1 and 11.8.1, which install.sh installs.
// Where one is missing the test that asks for it skips, saying so.
package engines
