// Command upstream is the cross-reference between upstream's C++ and this
// module. It reads the module's source as it is and the names of upstream from
// porting/upstream.
//
//	upstream where NAME            where a name of either side is on the other
//	upstream status [DIR|FILE]     how far the port is
//	upstream patch FILE|-          what a change of upstream touches here
//	upstream check                 what must hold
//	upstream facts TREE            the tables anew, from an upstream tree
//	upstream score TREE < COMMITS  how well patch does on real commits
//	upstream completion SHELL      completion for bash, zsh or fish
//
// The work is done by package internal/xref; start reading there.
package main

//go:generate go run . status --update
