// Port of env/env_test.cc. Differs: direct I/O is tried on the real file
// system, not mocked; an Env has no file methods, so that its SyncFile cases
// are the file system's.

package env_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

const pageSize = 4096

func newAligned(n int, c byte) []byte {
	b := make([]byte, n+pageSize)
	skip := 0
	if rest := int(uintptr(unsafe.Pointer(&b[0])) % pageSize); rest != 0 {
		skip = pageSize - rest
	}
	b = b[skip : skip+n]
	for i := range b {
		b[i] = c
	}
	return b
}

// posixTest runs f on the default file system and a chroot of it, without and
// with direct I/O.
func posixTest(t *testing.T, f func(t *testing.T, fs rocksdb.FileSystem, dir string, opts *rocksdb.FileOptions)) {
	for _, direct := range []bool{false, true} {
		opts := rocksdb.DefaultFileOptions()
		opts.UseDirectReads, opts.UseDirectWrites = direct, direct
		suffix := "WithoutDirectIO"
		if direct {
			suffix = "WithDirectIO"
		}
		t.Run("DefaultEnv"+suffix, func(t *testing.T) {
			dir := t.TempDir()
			needDirectIO(t, dir, &opts)
			f(t, env.DefaultFileSystem(), dir, &opts)
		})
		t.Run("ChrootEnv"+suffix, func(t *testing.T) {
			dir := t.TempDir()
			needDirectIO(t, dir, &opts)
			fs, err := env.NewChrootFileSystem(env.DefaultFileSystem(), dir)
			ok(t, err)
			ok(t, fs.CreateDir("/test", nil))
			f(t, fs, "/test", &opts)
		})
	}
}

// needDirectIO turns direct I/O off where the file system has none.
func needDirectIO(t *testing.T, dir string, opts *rocksdb.FileOptions) {
	w, err := env.DefaultFileSystem().NewWritableFile(filepath.Join(dir, "probe"), opts)
	if errors.Is(err, syscall.EINVAL) {
		t.Log("no direct I/O here")
		opts.UseDirectReads, opts.UseDirectWrites = false, false
	} else {
		ok(t, err)
		ok(t, w.Close(nil))
	}
	_ = env.DefaultFileSystem().DeleteFile(filepath.Join(dir, "probe"), nil)
}

func TestEnvPosixTest_RunEventually(t *testing.T) {
	var called atomic.Bool
	env.Default().StartThread(func() { called.Store(true) })
	env.Default().WaitForJoin()
	eq(t, called.Load(), true)
}

func TestEnvPosixTest_AreFilesSame(t *testing.T) {
	fs, dir := env.DefaultFileSystem(), t.TempDir()
	writeFile(t, fs, dir+"/f", "random_data")
	ok(t, fs.LinkFile(dir+"/f", dir+"/link", nil))
	same, err := fs.AreFilesSame(dir+"/f", dir+"/link", nil)
	ok(t, err)
	eq(t, same, true)
	n, err := fs.NumFileLinks(dir+"/f", nil)
	ok(t, err)
	eq(t, n, 2)
}

func TestEnvPosixTest_MemoryMappedFileBuffer(t *testing.T) {
	fs, name := env.DefaultFileSystem(), filepath.Join(t.TempDir(), "f")
	want := util.NewRandom(301).RandomString(1 << 15)
	writeFile(t, fs, name, want)
	m, err := fs.NewMemoryMappedFileBuffer(name)
	ok(t, err)
	eq(t, string(m.Data()), want)
	m.Data()[0] = '!'
	ok(t, m.Close())
	data, err := rocksdb.ReadFileToString(fs, name, nil)
	ok(t, err)
	eq(t, data[0], '!')
}

func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

func TestEnvPosixTestWithParam_UnSchedule(t *testing.T) {
	e := env.Default()
	e.SetBackgroundThreads(1, rocksdb.LowPriority)
	wake, sleeping := make(chan struct{}), make(chan struct{})
	e.Schedule(func() { close(sleeping); <-wake }, rocksdb.LowPriority, nil, nil)
	<-sleeping
	var ran, unscheduled atomic.Bool
	tag, otherTag := new(int), new(int)
	e.Schedule(func() { ran.Store(true) }, rocksdb.LowPriority, tag, func() { unscheduled.Store(true) })
	eq(t, e.UnSchedule(otherTag, rocksdb.LowPriority), 0)
	eq(t, e.UnSchedule(tag, rocksdb.LowPriority), 1)
	close(wake)
	done := make(chan struct{})
	e.Schedule(func() { close(done) }, rocksdb.LowPriority, nil, nil)
	<-done
	eq(t, ran.Load(), false)
	eq(t, unscheduled.Load(), true)
}

func TestEnvPosixTestWithParam_RunMany(t *testing.T) {
	e := env.Default()
	e.SetBackgroundThreads(1, rocksdb.LowPriority)
	var mu sync.Mutex
	var order []int
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		e.Schedule(func() {
			defer wg.Done()
			mu.Lock()
			defer mu.Unlock()
			order = append(order, i)
		}, rocksdb.LowPriority, nil, nil)
	}
	wg.Wait()
	if !slices.Equal(order, []int{0, 1, 2, 3}) {
		t.Fatalf("order %v", order)
	}
}

func TestEnvPosixTestWithParam_StartThread(t *testing.T) {
	var n atomic.Int32
	for range 3 {
		env.Default().StartThread(func() { n.Add(1) })
	}
	env.Default().WaitForJoin()
	eq(t, n.Load(), 3)
}

func TestEnvPosixTestWithParam_TwoPools(t *testing.T) {
	e := env.Default()
	sizes := map[rocksdb.Priority]int{rocksdb.LowPriority: 2, rocksdb.HighPriority: 4}
	const jobs = 8
	for pri, n := range sizes {
		e.SetBackgroundThreads(n, pri)
	}
	round := func() {
		start := make(chan struct{})
		var wg sync.WaitGroup
		for range jobs {
			for pri := range sizes {
				wg.Add(1)
				e.Schedule(func() { <-start; wg.Done() }, pri, nil, nil)
			}
		}
		for pri, n := range sizes {
			waitFor(t, "full pool", func() bool { return e.GetThreadPoolQueueLen(pri) == jobs-n })
		}
		close(start)
		wg.Wait()
		for pri := range sizes {
			eq(t, e.GetThreadPoolQueueLen(pri), 0)
		}
	}
	round()
	e.IncBackgroundThreadsIfNeeded(1, rocksdb.LowPriority) // has no effect
	e.IncBackgroundThreadsIfNeeded(5, rocksdb.HighPriority)
	sizes[rocksdb.HighPriority] = 5
	round()
	e.SetBackgroundThreads(4, rocksdb.HighPriority)
}

func TestEnvTest_MultipleCompositeEnv(t *testing.T) {
	e1 := env.NewCompositeEnv(env.NewReadOnlyFileSystem(env.DefaultFileSystem()))
	e2 := env.NewCompositeEnv(env.NewReadOnlyFileSystem(env.DefaultFileSystem()))
	env.Default().SetBackgroundThreads(8, rocksdb.HighPriority)
	env.Default().SetBackgroundThreads(16, rocksdb.LowPriority)
	for _, e := range []rocksdb.Env{e1, e2} {
		eq(t, e.GetBackgroundThreads(rocksdb.LowPriority), 16)
		eq(t, e.GetBackgroundThreads(rocksdb.HighPriority), 8)
	}
	env.Default().SetBackgroundThreads(1, rocksdb.HighPriority)
	env.Default().SetBackgroundThreads(1, rocksdb.LowPriority)
}

func TestEnvPosixTest_PositionedAppend(t *testing.T) {
	fs, name := env.DefaultFileSystem(), filepath.Join(t.TempDir(), "f")
	opts := rocksdb.DefaultFileOptions()
	opts.UseDirectWrites = true
	needDirectIO(t, t.TempDir(), &opts)
	w, err := fs.NewWritableFile(name, &opts)
	ok(t, err)
	ok(t, w.PositionedAppend(newAligned(pageSize, 'a'), 0, nil))
	ok(t, w.PositionedAppend(newAligned(pageSize, 'b'), pageSize, nil))
	ok(t, w.Close(nil))
	data, err := rocksdb.ReadFileToString(fs, name, nil)
	ok(t, err)
	eq(t, len(data), 2*pageSize)
	eq(t, data[pageSize-1], 'a')
	eq(t, data[pageSize], 'b')
}

func TestEnvPosixTestWithParam_RandomAccessUniqueID(t *testing.T) {
	fs, dir := env.DefaultFileSystem(), t.TempDir()
	id := func(name string) string {
		r, err := fs.NewRandomAccessFile(dir+"/"+name, nil)
		ok(t, err)
		defer r.Close()
		buf := make([]byte, 100)
		return string(buf[:r.GetUniqueID(buf)])
	}
	writeFile(t, fs, dir+"/f")
	writeFile(t, fs, dir+"/g")
	first := id("f")
	if first == "" {
		t.Log("the file system has no generations")
	}
	if first != "" && len(first) < 3 {
		t.Errorf("id %q", first)
	}
	eq(t, id("f"), first)
	if other := id("g"); first != "" && (other == first || strings.HasPrefix(other, first)) {
		t.Errorf("ids %q and %q", first, other)
	}
	r, err := fs.NewRandomAccessFile(dir+"/f", nil)
	ok(t, err)
	defer r.Close()
	eq(t, r.GetUniqueID(make([]byte, 29)), 0) // too small
}

func TestEnvPosixTestWithParam_RandomAccessUniqueIDConcurrent(t *testing.T) {
	posixTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string, opts *rocksdb.FileOptions) {
		const files = 200
		ids := map[string]bool{}
		for i := range files {
			writeFile(t, fs, fmt.Sprintf("%s/testfile%d", dir, i))
		}
		for i := range files {
			r, err := fs.NewRandomAccessFile(fmt.Sprintf("%s/testfile%d", dir, i), opts)
			ok(t, err)
			buf := make([]byte, 100)
			id := string(buf[:r.GetUniqueID(buf)])
			ok(t, r.Close())
			if id == "" && i == 0 {
				t.Log("the file system has no generations")
				return
			}
			v, n := binary.Uvarint([]byte(id))
			if n <= 0 || n == len(id) {
				t.Fatalf("id %q is one varint, %d, or none", id, v)
			}
			if ids[id] {
				t.Fatalf("two files have the id %q", id)
			}
			ids[id] = true
		}
		for id := range ids {
			for i := 1; i < len(id); i++ {
				if ids[id[:i]] {
					t.Fatalf("the id %q is a prefix of %q", id[:i], id)
				}
			}
		}
	})
}

func TestEnvPosixTestWithParam_MultiRead(t *testing.T) {
	posixTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string, opts *rocksdb.FileOptions) {
		var content []byte
		for i := range 8 {
			content = append(content, bytes.Repeat([]byte{byte(i + 1)}, pageSize)...)
		}
		writeFile(t, fs, dir+"/f", string(content))
		r, err := fs.NewRandomAccessFile(dir+"/f", opts)
		ok(t, err)
		defer r.Close()
		eq(t, r.UseDirectIO(), opts.UseDirectReads)
		reqs := make([]rocksdb.FSReadRequest, 3)
		for i := range reqs {
			reqs[i] = rocksdb.FSReadRequest{Offset: uint64(2 * i * pageSize), Len: pageSize, Scratch: newAligned(pageSize, 0)}
		}
		ok(t, r.MultiRead(reqs, nil))
		for i := range reqs {
			ok(t, reqs[i].Status)
			if !bytes.Equal(reqs[i].Result, bytes.Repeat([]byte{byte(2*i + 1)}, pageSize)) {
				t.Errorf("request %d: other data", i)
			}
		}
	})
}

func TestEnvPosixTest_MultiReadNonAlignedLargeNum(t *testing.T) {
	const total = 81920
	rnd := util.NewRandom(301)
	want := rnd.RandomString(total)
	fs, name := env.DefaultFileSystem(), filepath.Join(t.TempDir(), "f")
	writeFile(t, fs, name, want)
	for range 25 {
		offsets := map[int]bool{}
		for range rnd.Uniform(512) + 1 {
			offsets[int(rnd.Uniform(total))] = true
		}
		var sorted []int
		for off := range offsets {
			sorted = append(sorted, off)
		}
		slices.Sort(sorted)
		reqs := make([]rocksdb.FSReadRequest, len(sorted))
		for i, off := range sorted {
			end := total
			if i+1 < len(sorted) {
				end = sorted[i+1]
			}
			n := int(rnd.Uniform(end-off)) + 1
			reqs[i] = rocksdb.FSReadRequest{Offset: uint64(off), Len: n, Scratch: make([]byte, n)}
		}
		r, err := fs.NewRandomAccessFile(name, nil)
		ok(t, err)
		ok(t, r.MultiRead(reqs, nil))
		for i := range reqs {
			ok(t, reqs[i].Status)
			eq(t, string(reqs[i].Result), want[sorted[i]:sorted[i]+reqs[i].Len])
		}
		ok(t, r.Close())
	}
}

func TestEnvPosixTestWithParam_InvalidateCache(t *testing.T) {
	posixTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string, opts *rocksdb.FileOptions) {
		data := newAligned(pageSize, 'x')
		w, err := fs.NewWritableFile(dir+"/f", opts)
		ok(t, err)
		ok(t, w.Append(data, nil))
		ok(t, w.InvalidateCache(0, 0))
		ok(t, w.Close(nil))

		ra, err := fs.NewRandomAccessFile(dir+"/f", opts)
		ok(t, err)
		scratch := newAligned(pageSize, 0)
		got, err := ra.Read(0, pageSize, nil, scratch)
		ok(t, err)
		eq(t, bytes.Equal(got, data), true)
		ok(t, ra.InvalidateCache(0, 11))
		ok(t, ra.InvalidateCache(0, 0))
		ra.Hint(rocksdb.AccessRandom)
		ok(t, ra.Prefetch(0, pageSize, nil))
		ok(t, ra.Close())

		seq, err := fs.NewSequentialFile(dir+"/f", opts)
		ok(t, err)
		scratch = newAligned(pageSize, 0)
		if seq.UseDirectIO() {
			got, err = seq.PositionedRead(0, pageSize, nil, scratch)
		} else {
			got, err = seq.Read(pageSize, nil, scratch)
		}
		ok(t, err)
		eq(t, bytes.Equal(got, data), true)
		ok(t, seq.InvalidateCache(0, 11))
		ok(t, seq.InvalidateCache(0, 0))
		ok(t, seq.Close())
	})
}

// countLogger counts lines and the letter x, and checks their length.
type countLogger struct {
	rocksdb.LoggerBase
	t            *testing.T
	maxLen       int
	lines, exes  int
	sawFullLines int
}

func (l *countLogger) Logv(level rocksdb.InfoLogLevel, format string, args ...any) {
	if !l.Admits(level) {
		return
	}
	line := fmtSprintf(format, args)
	l.lines++
	l.exes += strings.Count(line, "x")
	// The buffer's note of the original time has 48 bytes.
	if n := len(line); n > 48+l.maxLen-16 {
		l.t.Errorf("line of %d bytes", n)
	} else if n > l.maxLen-16 {
		l.sawFullLines++
	}
}

func (l *countLogger) LogHeader(format string, args ...any) {
	l.Logv(rocksdb.HeaderLevel, format, args...)
}

func TestEnvPosixTestWithParam_LogBufferTest(t *testing.T) {
	l := &countLogger{t: t, maxLen: 512}
	l.SetInfoLogLevel(rocksdb.InfoLevel)
	info, debug := logging.NewLogBuffer(rocksdb.InfoLevel, l), logging.NewLogBuffer(rocksdb.DebugLevel, l)
	b200, b600, b9000 := strings.Repeat("1", 199), strings.Repeat("1", 599), strings.Repeat("1", 8999)
	logging.ToBuffer(info, "x%sx", b200)
	logging.ToBuffer(info, "x%sx", b600)
	logging.ToBuffer(info, "x%sx%sx%sx", b200, b200, b200)
	logging.ToBuffer(info, "x%sx%sx", b200, b600)
	logging.ToBuffer(info, "x%sx%sx", b600, b9000)
	logging.ToBuffer(debug, "x%sx", b200)
	l.SetInfoLogLevel(rocksdb.DebugLevel)
	logging.ToBuffer(debug, "x%sx%sx%sx", b600, b9000, b200)
	eq(t, l.lines, 0)
	info.FlushBufferToLog()
	debug.FlushBufferToLog()
	eq(t, l.lines, 6)
	eq(t, l.exes, 10)
}

func TestEnvPosixTestWithParam_LogBufferMaxSizeTest(t *testing.T) {
	for _, size := range []int{256, 1024} {
		l := &countLogger{t: t, maxLen: size}
		b := logging.NewLogBuffer(rocksdb.InfoLevel, l)
		logging.ToBufferMaxSize(b, size, "%s", strings.Repeat("1", 8999))
		b.FlushBufferToLog()
		eq(t, l.sawFullLines, 1)
	}
}

func TestEnvPosixTestWithParam_Preallocation(t *testing.T) {
	posixTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string, opts *rocksdb.FileOptions) {
		w, err := fs.NewWritableFile(dir+"/f", opts)
		ok(t, err)
		w.SetPreallocationBlockSize(1 << 20)
		want := func(blocks int) {
			t.Helper()
			_, last := w.GetPreallocationStatus()
			eq(t, last, blocks)
		}
		write := func(n int) {
			w.PrepareWrite(w.GetFileSize(nil), n, nil)
			ok(t, w.Append(newAligned(n, ' '), nil))
		}
		want(0)
		write(4096)
		want(1)
		write(1 << 20)
		want(2)
		write(5 << 20)
		want(7)
		eq(t, fileSize(t, fs, dir+"/f"), 4096+6<<20) // blocks do not count
		ok(t, w.Close(nil))
		eq(t, fileSize(t, fs, dir+"/f"), 4096+6<<20)
	})
}

func TestEnvPosixTestWithParam_AllocateTest(t *testing.T) {
	dir := t.TempDir()
	fs, name := env.DefaultFileSystem(), filepath.Join(dir, "f")
	for _, direct := range []bool{false, true} {
		opts := rocksdb.DefaultFileOptions()
		opts.UseDirectWrites = direct
		needDirectIO(t, dir, &opts)
		w, err := fs.NewWritableFile(name, &opts)
		ok(t, err)
		w.SetPreallocationBlockSize(16 << 20)
		w.PrepareWrite(0, 1<<20, nil)
		ok(t, w.Append(newAligned(1<<20, 'A'), nil))
		ok(t, w.Flush(nil))
		eq(t, fileSize(t, fs, name), 1<<20)
		before := allocatedBlocks(t, name)
		ok(t, w.Close(nil))
		eq(t, fileSize(t, fs, name), 1<<20)
		after := allocatedBlocks(t, name)
		if before >= 16<<20/512 && after > (1<<20+2*pageSize)/512 {
			t.Errorf("%d blocks before, %d after Close", before, after)
		}
	}
}

func TestEnvPosixTestWithParam_ConsistentChildrenAttributes(t *testing.T) {
	posixTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string, _ *rocksdb.FileOptions) {
		want := map[string]uint64{}
		for i := range 10 {
			name := "testfile_" + string(rune('0'+i))
			writeFile(t, fs, dir+"/"+name, strings.Repeat("T", 4096*i))
			want[name] = uint64(4096 * i)
		}
		attrs, err := fs.GetChildrenFileAttributes(dir, nil)
		ok(t, err)
		eq(t, len(attrs), len(want))
		for _, a := range attrs {
			eq(t, a.SizeBytes, want[a.Name])
			eq(t, fileSize(t, fs, dir+"/"+a.Name), want[a.Name])
		}
	})
}

func TestEnvPosixTestWithParam_PosixRandomRWFile(t *testing.T) {
	posixTest(t, func(t *testing.T, fs rocksdb.FileSystem, dir string, _ *rocksdb.FileOptions) {
		name := dir + "/f"
		_, err := fs.NewRandomRWFile(name, nil)
		nok(t, err)
		writeFile(t, fs, name)
		f, err := fs.NewRandomRWFile(name, nil)
		ok(t, err)
		write := func(off uint64, s string) {
			t.Helper()
			ok(t, f.Write(off, []byte(s), nil))
		}
		read := func(off uint64, n int, want string) {
			t.Helper()
			got, err := f.Read(off, n, nil, make([]byte, n))
			ok(t, err)
			eq(t, string(got), want)
		}
		write(0, "ABCD")
		read(0, 10, "ABCD")
		write(2, "XXXX")
		read(0, 10, "ABXXXX")
		write(10, "ZZZ")
		read(10, 10, "ZZZ")
		write(11, "Y")
		read(10, 10, "ZYZ")
		write(200, "FFFFF")
		read(200, 10, "FFFFF")
		write(205, "XXXX")
		read(200, 10, "FFFFFXXXX")
		write(5, "QQQQ")
		read(0, 9, "ABXXXQQQQ")
		read(2, 4, "XXXQ")
		ok(t, f.Sync(nil))
		ok(t, f.Fsync(nil))
		ok(t, f.Close(nil))

		f, err = fs.NewRandomRWFile(name, nil)
		ok(t, err)
		read(0, 9, "ABXXXQQQQ")
		read(10, 3, "ZYZ")
		read(200, 9, "FFFFFXXXX")
		write(4, "TTTTTTTTTTTTTTTT")
		read(0, 10, "ABXXTTTTTT")
		ok(t, f.Close(nil))
	})
}

func TestEnvPosixTestWithParam_PosixRandomRWFileRandomized(t *testing.T) {
	fs, name := env.DefaultFileSystem(), filepath.Join(t.TempDir(), "f")
	writeFile(t, fs, name)
	f, err := fs.NewRandomRWFile(name, nil)
	ok(t, err)
	rnd := util.NewRandom(301)
	var mirror []byte
	for i := range 2000 {
		s := rnd.RandomString(10)
		off := int(rnd.Uniform(1000))
		if end := off + len(s); end > len(mirror) {
			mirror = append(mirror, make([]byte, end-len(mirror))...)
		}
		copy(mirror[off:], s)
		ok(t, f.Write(uint64(off), []byte(s), nil))

		off, n := int(rnd.Uniform(1000)), int(rnd.Uniform(20))
		got, err := f.Read(uint64(off), n, nil, make([]byte, n))
		ok(t, err)
		want := mirror[min(off, len(mirror)):]
		if !bytes.Equal(got, want[:min(n, len(want))]) {
			t.Fatalf("read %q at %d, want %q", got, off, want)
		}
		if i%500 == 0 {
			ok(t, f.Close(nil))
			f, err = fs.NewRandomRWFile(name, nil)
			ok(t, err)
		}
	}
	ok(t, f.Close(nil))
}

func TestEnvTest_LogvWithInfoLogLevel(t *testing.T) {
	l := &countLogger{t: t, maxLen: 512}
	logging.Header(l, "%s", "sample log message")
	logging.Debug(l, "%s", "sample log message")
	logging.Info(l, "%s", "sample log message")
	logging.Warn(l, "%s", "sample log message")
	logging.Error(l, "%s", "sample log message")
	logging.Fatal(l, "%s", "sample log message")
	eq(t, l.lines, 6)
}

func TestEnvTest_IsDirectory(t *testing.T) {
	fs, dir := env.DefaultFileSystem(), t.TempDir()
	ok(t, fs.CreateDirIfMissing(dir+"/sub1", nil))
	is, err := fs.IsDirectory(dir+"/sub1", nil)
	ok(t, err)
	eq(t, is, true)
	ok(t, file.CreateFile(fs, dir+"/file1", []byte("test"), false))
	is, err = fs.IsDirectory(dir+"/file1", nil)
	ok(t, err)
	eq(t, is, false)
	_, err = fs.IsDirectory(dir+"/none", nil)
	eq(t, rocksdb.IsPathNotFound(err), true)
}

func TestEnvTest_FailureToCreateLockFile(t *testing.T) {
	fs, dir := env.DefaultFileSystem(), filepath.Join(t.TempDir(), "lockdir")
	_, err := fs.LockFile(dir+"/lockfile", nil)
	nok(t, err)
	ok(t, fs.CreateDir(dir, nil))
	l, err := fs.LockFile(dir+"/lockfile", nil)
	ok(t, err)
	ok(t, fs.UnlockFile(l, nil))
	ok(t, file.DestroyDir(fs, dir))
	notFound(t, fs.FileExists(dir, nil))
}

func TestTestGetFileSize_GetFileSize(t *testing.T) {
	fs, name := env.DefaultFileSystem(), filepath.Join(t.TempDir(), "f")
	const size = 123457
	ok(t, file.CreateFile(fs, name, make([]byte, size), false))
	for _, mmap := range []bool{false, true} {
		opts := rocksdb.DefaultFileOptions()
		opts.UseMmapReads = mmap
		r, err := fs.NewRandomAccessFile(name, &opts)
		ok(t, err)
		n, err := r.GetFileSize()
		ok(t, err)
		eq(t, n, size)
		ok(t, r.Close())
	}
	eq(t, fileSize(t, fs, name), size)
}

func TestTestIOActivity_IOActivityToString(t *testing.T) {
	for a, want := range map[rocksdb.IOActivity]string{
		rocksdb.IOActivityMultiGet: "MultiGet",
		0x80:                       "CustomIOActivity80",
		0xA9:                       "CustomIOActivityA9",
		0xFE:                       "CustomIOActivityFE",
		rocksdb.IOActivityUnknown:  "Unknown",
		rocksdb.IOActivityGetFileChecksumsFromCurrentManifest: "GetFileChecksumsFromCurrentManifest",
		0x40: "Invalid",
	} {
		eq(t, a.String(), want)
	}
}

func TestEnvTest_EnvWriteVerificationTest(t *testing.T) {
	fs := fsutil.NewFaultInjectionTestFS(env.DefaultFileSystem())
	fs.SetChecksumHandoffFuncType(rocksdb.CRC32c)
	w, err := env.NewCompositeEnv(fs).GetFileSystem().NewWritableFile(filepath.Join(t.TempDir(), "file1"), nil)
	ok(t, err)
	data := []byte("test")
	sum := binary.LittleEndian.AppendUint32(nil, util.Crc32cValue(data))
	ok(t, w.AppendWithVerification(data, nil, rocksdb.DataVerificationInfo{Checksum: sum}))
	nok(t, w.AppendWithVerification([]byte("tset"), nil, rocksdb.DataVerificationInfo{Checksum: sum}))
	ok(t, w.Close(nil))
}
