// No upstream twin: the tables of porting/upstream.

package xref

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// symbolsFile holds all symbols; it is compressed for its size (zcat shows it).
const symbolsFile = "symbols.tsv.gz"

// Save writes the tables to a directory.
func (f *Facts) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range f.Tables() {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Tables gives the tables' bytes by their files' names.
func (f *Facts) Tables() map[string][]byte {
	out := map[string][]byte{"VERSION": []byte(f.Version + "\n")}
	var b bytes.Buffer
	b.WriteString("path\tkind\tlines\n")
	for _, x := range f.Files {
		fmt.Fprintf(&b, "%s\t%s\t%d\n", x.Path, x.Kind, x.Lines)
	}
	out["files.tsv"] = bytes.Clone(b.Bytes())

	b.Reset()
	b.WriteString("file\tsuite\ttest\tmacro\tline\tend\n")
	for _, s := range f.Symbols {
		if s.Kind == KindTest {
			suite, name, _ := strings.Cut(s.Name, ".")
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%d\t%d\n", s.File, suite, name, s.More, s.Line, s.End)
		}
	}
	out["tests.tsv"] = bytes.Clone(b.Bytes())

	b.Reset()
	b.WriteString("file\tenum\tname\tvalue\tline\n")
	for _, s := range f.Symbols {
		if s.Kind == KindValue {
			i := strings.LastIndex(s.Name, "::")
			enum := ""
			if i >= 0 {
				enum = s.Name[:i]
			}
			fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%d\n", s.File, enum, lastName(s.Name), s.More, s.Line)
		}
	}
	out["enums.tsv"] = bytes.Clone(b.Bytes())

	for _, kind := range FactKinds {
		b.Reset()
		b.WriteString("name\tconstant\tfile\tline\n")
		for _, x := range f.Facts {
			if x.Kind == kind {
				fmt.Fprintf(&b, "%s\t%s\t%s\t%d\n", x.Name, x.Const, x.File, x.Line)
			}
		}
		out[kind+".tsv"] = bytes.Clone(b.Bytes())
	}
	out[symbolsFile] = f.packSymbols()
	return out
}

// packSymbols writes a file's name once, before its symbols.
func (f *Facts) packSymbols() []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	w := bufio.NewWriter(z)
	w.WriteString("kind\tname\tline\tlines\tcalls\n")
	file, line := "", 0
	for _, s := range f.Symbols {
		if s.Kind == KindTest || s.Kind == KindValue {
			continue
		}
		if s.File != file {
			file, line = s.File, 0
			fmt.Fprintf(w, "file\t%s\n", file)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\n", s.Kind, s.Name, s.Line-line, s.End-s.Line, s.Calls)
		line = s.Line
	}
	// Writes to a buffer do not fail.
	_ = w.Flush()
	_ = z.Close()
	return packed.Bytes()
}

// tableRows reads a table with a head line.
func tableRows(dir, name string, columns int, row func(cols []string) error) error {
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		if i == 0 {
			continue
		}
		cols := strings.Split(line, "\t")
		if len(cols) < columns {
			return fmt.Errorf("%s:%d: %d columns of %d", path, i+1, len(cols), columns)
		}
		if err := row(cols); err != nil {
			return fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
	}
	return nil
}

// Load reads the tables of a directory.
func Load(dir string) (*Facts, error) {
	f := &Facts{}
	version, err := os.ReadFile(filepath.Join(dir, "VERSION"))
	if err != nil {
		return nil, err
	}
	f.Version = strings.TrimSpace(string(version))
	err = tableRows(dir, "files.tsv", 3, func(c []string) error {
		n, err := strconv.Atoi(c[2])
		f.Files = append(f.Files, File{c[0], c[1], n})
		return err
	})
	if err != nil {
		return nil, err
	}
	err = tableRows(dir, "tests.tsv", 6, func(c []string) error {
		line, err := strconv.Atoi(c[4])
		if err != nil {
			return err
		}
		end, err := strconv.Atoi(c[5])
		f.Symbols = append(f.Symbols, Symbol{File: c[0], Kind: KindTest, Name: c[1] + "." + c[2], Line: line, End: end, More: c[3]})
		return err
	})
	if err != nil {
		return nil, err
	}
	err = tableRows(dir, "enums.tsv", 5, func(c []string) error {
		line, err := strconv.Atoi(c[4])
		f.Symbols = append(f.Symbols, Symbol{File: c[0], Kind: KindValue, Name: join(c[1], c[2]), Line: line, End: line, More: c[3]})
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, kind := range FactKinds {
		err = tableRows(dir, kind+".tsv", 4, func(c []string) error {
			line, err := strconv.Atoi(c[3])
			f.Facts = append(f.Facts, Fact{kind, c[0], c[1], c[2], line})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := f.loadSymbols(filepath.Join(dir, symbolsFile)); err != nil {
		return nil, err
	}
	f.finish()
	return f, nil
}

func (f *Facts) loadSymbols(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	file, line := "", 0
	for i, row := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		cols := strings.Split(row, "\t")
		switch {
		case i == 0:
			continue
		case len(cols) == 2 && cols[0] == "file":
			file, line = cols[1], 0
			continue
		case len(cols) != 5:
			return fmt.Errorf("%s:%d: %d columns", path, i+1, len(cols))
		}
		at, err1 := strconv.Atoi(cols[2])
		n, err2 := strconv.Atoi(cols[3])
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%s:%d: no number", path, i+1)
		}
		line += at
		f.Symbols = append(f.Symbols, Symbol{File: file, Kind: cols[0], Name: cols[1], Line: line, End: line + n, Calls: cols[4]})
	}
	return nil
}

// lastName gives what follows the last "::".
func lastName(name string) string { return name[strings.LastIndex(name, ":")+1:] }
