// No upstream twin: what the tests of public reports share.

package rocksdb_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb"
	"github.com/rocksdb-go/rocksdb/env"
	contract "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// newFieldTest opens a database for a public report; auto compactions are off.
func newFieldTest(t *testing.T, change func(o *rocksdb.Options, b *rocksdb.BlockBasedTableOptions), names ...string) *recoveryTest {
	t.Helper()
	return newRecoveryTest(t, func(o *rocksdb.Options) {
		o.DisableAutoCompactions = true
		b := rocksdb.DefaultBlockBasedTableOptions()
		if change != nil {
			change(o, &b)
		}
		if o.TableFactory == nil {
			o.TableFactory = rocksdb.NewBlockBasedTableFactory(b)
		}
	}, names...)
}

// reopen closes the database and opens it again.
func (x *recoveryTest) reopen(names ...string) { x.Helper(); x.must(x.open("db", x.o, names...)) }

func (x *recoveryTest) del(keys ...string) {
	x.Helper()
	for _, k := range keys {
		x.must(x.db.Delete(nil, []byte(k)))
	}
}

func (x *recoveryTest) merge(key, operand string) {
	x.Helper()
	x.must(x.db.Merge(nil, []byte(key), []byte(operand)))
}

func (x *recoveryTest) deleteRange(begin, end string) {
	x.Helper()
	x.must(x.db.DeleteRange(nil, []byte(begin), []byte(end)))
}

// compact compacts the default family; force takes the last level along.
func (x *recoveryTest) compact(force bool) { x.Helper(); x.must(x.compactRange(force, nil, nil)) }

func (x *recoveryTest) compactRange(force bool, begin, end []byte) error {
	o := rocksdb.DefaultCompactRangeOptions()
	if force {
		o.BottommostLevelCompaction = rocksdb.BottommostLevelCompactionForce
	}
	return x.db.CompactRange(&o, begin, end)
}

func (x *recoveryTest) comparator() rocksdb.Comparator {
	if x.o.Comparator != nil {
		return x.o.Comparator
	}
	return rocksdb.BytewiseComparator()
}

// tables are the default family's files of a level, the newest of level 0
// first.
func (x *recoveryTest) tables(level int) (list []rocksdb.SstFileMetaData) {
	for _, l := range x.db.GetColumnFamilyMetaData(nil).Levels {
		if l.Level == level {
			list = l.Files
		}
	}
	return list
}

func (x *recoveryTest) snapshot() rocksdb.Snapshot {
	s := x.db.GetSnapshot()
	return s
}

func (x *recoveryTest) release(list ...rocksdb.Snapshot) {
	x.Helper()
	for _, s := range list {
		x.must(x.db.ReleaseSnapshot(s))
	}
}

// moveTo compacts all files of level 0 to a level.
func (x *recoveryTest) moveTo(level int) {
	x.Helper()
	var names []string
	for _, f := range x.tables(0) {
		names = append(names, f.Name)
	}
	_, err := x.db.CompactFiles(nil, names, level, -1, nil)
	x.must(err)
}

// levels are the numbers of files of the first n levels.
func (x *recoveryTest) levels(n int) string {
	var list []string
	for l := range n {
		v, _ := x.db.GetProperty(fmt.Sprintf("rocksdb.num-files-at-level%d", l))
		list = append(list, v)
	}
	return strings.Join(list, " ")
}

// readOptions are the defaults, changed.
func readOptions(change func(ro *rocksdb.ReadOptions)) *rocksdb.ReadOptions {
	ro := rocksdb.DefaultReadOptions()
	if change != nil {
		change(&ro)
	}
	return &ro
}

// outcome is a value, or what kind of error there is.
func outcome(value []byte, err error) string {
	switch {
	case err == nil:
		return string(value)
	case errors.Is(err, rocksdb.ErrNotFound):
		return "NotFound"
	}
	return "~" + codeName(err)
}

// codeName is the text of an error's code.
func codeName(err error) string {
	name, _, _ := strings.Cut(err.Error(), ":")
	return name
}

func getFrom(c *rocksdb.ColumnFamily, ro *rocksdb.ReadOptions, key string) string {
	v, err := c.Get(ro, []byte(key))
	defer v.Release()
	return outcome(v.Data(), err)
}

func (x *recoveryTest) get(ro *rocksdb.ReadOptions, key string) string {
	return getFrom(x.db.ColumnFamily, ro, key)
}

// multiGet gives the outcomes of one call.
func multiGetFrom(c *rocksdb.ColumnFamily, ro *rocksdb.ReadOptions, keys ...string) string {
	list := make([][]byte, len(keys))
	for i, k := range keys {
		list[i] = []byte(k)
	}
	values, errs := make([]rocksdb.PinnableSlice, len(keys)), make([]error, len(keys))
	c.MultiGet(ro, list, values, errs)
	var out []string
	for i := range values {
		out = append(out, outcome(values[i].Data(), errs[i]))
		values[i].Release()
	}
	return strings.Join(out, " ")
}

func (x *recoveryTest) multiGet(ro *rocksdb.ReadOptions, keys ...string) string {
	return multiGetFrom(x.db.ColumnFamily, ro, keys...)
}

// at is where an iterator stands: its key, "-" for nowhere, or the error.
func at(it *rocksdb.Iterator) string {
	switch {
	case it.Valid():
		return string(it.Key())
	case it.Status() == nil:
		return "-"
	}
	return "~" + codeName(it.Status())
}

// rest is the keys from where an iterator stands, and how it ended where that
// is an error.
func rest(it *rocksdb.Iterator, step func(), show func(it *rocksdb.Iterator) string) string {
	var list []string
	for ; it.Valid(); step() {
		list = append(list, show(it))
	}
	if s := at(it); s != "-" {
		list = append(list, s)
	}
	return strings.Join(list, " ")
}

func keyOf(it *rocksdb.Iterator) string  { return string(it.Key()) }
func pairOf(it *rocksdb.Iterator) string { return string(it.Key()) + "=" + string(it.Value()) }

// forward and backward are all keys and values with ro.
func (x *recoveryTest) forward(ro *rocksdb.ReadOptions) string {
	it := x.db.NewIterator(ro)
	defer it.Close()
	it.SeekToFirst()
	return rest(it, it.Next, pairOf)
}

func (x *recoveryTest) backward(ro *rocksdb.ReadOptions) string {
	it := x.db.NewIterator(ro)
	defer it.Close()
	it.SeekToLast()
	return rest(it, it.Prev, pairOf)
}

// same fails unless got is want.
func (x *recoveryTest) same(what, got, want string) {
	x.Helper()
	if got != want {
		x.Errorf("%s: %.400q, not %.400q", what, got, want)
	}
}

// seek does one of: "+k" Seek, "-k" SeekForPrev, "<" SeekToFirst, ">"
// SeekToLast, "n" Next, "p" Prev; and tells where the iterator stands.
func seek(it *rocksdb.Iterator, op string) string {
	switch op[0] {
	case '+':
		it.Seek([]byte(op[1:]))
	case '-':
		it.SeekForPrev([]byte(op[1:]))
	case '<':
		it.SeekToFirst()
	case '>':
		it.SeekToLast()
	case 'n':
		it.Next()
	case 'p':
		it.Prev()
	}
	return at(it)
}

// steps runs several, e.g. "+a", "n".
func steps(it *rocksdb.Iterator, ops ...string) string {
	var list []string
	for _, op := range ops {
		list = append(list, seek(it, op))
	}
	return strings.Join(list, " ")
}

// walk runs steps on a new iterator.
func (x *recoveryTest) walk(ro *rocksdb.ReadOptions, ops ...string) string {
	it := x.db.NewIterator(ro)
	defer it.Close()
	return steps(it, ops...)
}

// hookFS asks before each operation on files: "create", "append", "sync",
// "read", "rename", "delete"; and tells after it ("+create" …). An error of the
// former is the operation's.
type hookFS struct {
	contract.FileSystemWrapper
	hook func(op, path string, offset uint64, n int) error
}

func newHookFS() *hookFS {
	return &hookFS{FileSystemWrapper: contract.FileSystemWrapper{FileSystem: env.DefaultFileSystem()}}
}

func (f *hookFS) env() rocksdb.Env { return env.NewCompositeEnvWrapper(env.Default(), f, nil) }

func (f *hookFS) do(op, path string, offset uint64, n int, call func() error) error {
	if h := f.hook; h != nil {
		if err := h(op, path, offset, n); err != nil {
			return err
		}
	}
	if err := call(); err != nil {
		return err
	}
	if h := f.hook; h != nil {
		return h("+"+op, path, offset, n)
	}
	return nil
}

type hookWritable struct {
	contract.FSWritableFileWrapper
	fs   *hookFS
	path string
}

func (w *hookWritable) Append(data []byte, o *contract.IOOptions) error {
	return w.fs.do("append", w.path, 0, len(data), func() error { return w.FSWritableFileWrapper.Append(data, o) })
}

func (w *hookWritable) AppendWithVerification(data []byte, o *contract.IOOptions, v contract.DataVerificationInfo) error {
	return w.fs.do("append", w.path, 0, len(data), func() error { return w.FSWritableFileWrapper.AppendWithVerification(data, o, v) })
}

func (w *hookWritable) PositionedAppend(data []byte, at uint64, o *contract.IOOptions) error {
	return w.fs.do("append", w.path, at, len(data), func() error { return w.FSWritableFileWrapper.PositionedAppend(data, at, o) })
}

func (w *hookWritable) Sync(o *contract.IOOptions) error {
	return w.fs.do("sync", w.path, 0, 0, func() error { return w.FSWritableFileWrapper.Sync(o) })
}

func (w *hookWritable) Fsync(o *contract.IOOptions) error {
	return w.fs.do("sync", w.path, 0, 0, func() error { return w.FSWritableFileWrapper.Fsync(o) })
}

type hookRandom struct {
	contract.FSRandomAccessFileWrapper
	fs   *hookFS
	path string
}

func (r *hookRandom) Read(at uint64, n int, o *contract.IOOptions, scratch []byte) (b []byte, err error) {
	err = r.fs.do("read", r.path, at, n, func() (err error) {
		b, err = r.FSRandomAccessFileWrapper.Read(at, n, o, scratch)
		return err
	})
	return b, err
}

func (r *hookRandom) MultiRead(reqs []contract.FSReadRequest, o *contract.IOOptions) error {
	for i := range reqs {
		q := &reqs[i]
		q.Result, q.Status = r.Read(q.Offset, q.Len, o, q.Scratch)
	}
	return nil
}

func (f *hookFS) NewWritableFile(path string, o *contract.FileOptions) (w contract.FSWritableFile, err error) {
	err = f.do("create", path, 0, 0, func() (err error) {
		w, err = f.FileSystemWrapper.NewWritableFile(path, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &hookWritable{contract.FSWritableFileWrapper{FSWritableFile: w}, f, path}, nil
}

func (f *hookFS) NewRandomAccessFile(path string, o *contract.FileOptions) (contract.FSRandomAccessFile, error) {
	r, err := f.FileSystemWrapper.NewRandomAccessFile(path, o)
	if err != nil {
		return nil, err
	}
	return &hookRandom{contract.FSRandomAccessFileWrapper{FSRandomAccessFile: r}, f, path}, nil
}

func (f *hookFS) RenameFile(from, to string, o *contract.IOOptions) error {
	return f.do("rename", to, 0, 0, func() error { return f.FileSystemWrapper.RenameFile(from, to, o) })
}

func (f *hookFS) DeleteFile(path string, o *contract.IOOptions) error {
	return f.do("delete", path, 0, 0, func() error { return f.FileSystemWrapper.DeleteFile(path, o) })
}
