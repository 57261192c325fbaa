// Package memory tells what memory databases use, by kind. Read memory_util.go.
package memory
