// No upstream twin: opens the cross-reference of a module.

package xref

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

// TablesDir is where the tables of upstream's names are, from the module's root.
const TablesDir = "porting/upstream"

// Open reads both sides and the ledger of the module at root.
func Open(root string) (*Ref, error) {
	var wg sync.WaitGroup
	var up *Facts
	var upErr error
	wg.Add(1)
	go func() {
		defer wg.Done()
		up, upErr = Load(filepath.Join(root, TablesDir))
	}()
	g, err := ReadGo(root)
	wg.Wait()
	if err != nil {
		return nil, err
	}
	if upErr != nil {
		return nil, upErr
	}
	l, err := ReadLedger(filepath.Join(root, "porting"))
	if err != nil {
		return nil, err
	}
	return NewRef(up, g, l), nil
}

// IsTool tells whether a word names one of the tools, so that a flag or command
// may follow it.
func IsTool(word string) bool { return toolNames[word] }

// Compare lists what one version of upstream has over another.
func Compare(from, to *Facts) string {
	var b strings.Builder
	list := func(kind string, a, b2 map[string]bool) {
		var added, gone []string
		for n := range b2 {
			if !a[n] {
				added = append(added, n)
			}
		}
		for n := range a {
			if !b2[n] {
				gone = append(gone, n)
			}
		}
		sort.Strings(added)
		sort.Strings(gone)
		if len(added)+len(gone) == 0 {
			return
		}
		fmt.Fprintf(&b, "%s: %d new, %d gone\n", kind, len(added), len(gone))
		for _, n := range added {
			fmt.Fprintf(&b, "  + %s\n", n)
		}
		for _, n := range gone {
			fmt.Fprintf(&b, "  - %s\n", n)
		}
	}
	files := func(f *Facts) map[string]bool {
		out := map[string]bool{}
		for _, x := range f.Files {
			out[x.Path] = true
		}
		return out
	}
	list("files", files(from), files(to))
	for _, kinds := range [][]string{{KindTest}, {KindClass}, {KindEnum}, {KindValue}, {KindFunc, KindDecl}} {
		set := func(f *Facts) map[string]bool {
			out := map[string]bool{}
			for _, s := range f.Symbols {
				for _, k := range kinds {
					if s.Kind == k && (k == KindTest || fileKind(s.File) == "source" || fileKind(s.File) == "header") {
						out[s.Name] = true
					}
				}
			}
			return out
		}
		list(map[string]string{KindTest: "tests", KindClass: "classes", KindEnum: "enums", KindValue: "enum values", KindFunc: "functions"}[kinds[0]], set(from), set(to))
	}
	for _, kind := range FactKinds {
		set := func(f *Facts) map[string]bool {
			out := map[string]bool{}
			for _, x := range f.Facts {
				if x.Kind == kind {
					name := x.Name
					if kind == "flags" {
						name = toolOf(x.File) + " --" + name
					}
					out[name] = true
				}
			}
			return out
		}
		list(kind, set(from), set(to))
	}
	return b.String()
}
