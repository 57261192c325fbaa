// Port of utilities/fault_injection_fs_test.cc.

package fsutil

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func nok(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
}

func eq[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// record logs errors and gives the file's bytes.
func record(t *testing.T, f func(l *InjectedErrorLog)) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "log.bin")
	l, err := NewInjectedErrorLog(name)
	ok(t, err)
	f(l)
	ok(t, l.Close())
	raw, err := os.ReadFile(name)
	ok(t, err)
	return raw
}

func cString(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

func TestInjectedErrorLogTest_BasicRecordAndFlush(t *testing.T) {
	raw := record(t, func(l *InjectedErrorLog) {
		s := rocksdb.IOError("injected write error")
		s.DataLoss = true
		l.Record("Append", "/tmp/000001.log", offsetSizeAndHead(7, []byte("abcd")), s)
		l.Flush()
	})
	eq(t, len(raw), InjectedErrorLogSize)
	if binary.LittleEndian.Uint64(raw) == 0 {
		t.Error("no time")
	}
	eq(t, binary.LittleEndian.Uint64(raw[16:]), 7)
	eq(t, binary.LittleEndian.Uint64(raw[24:]), 4)
	eq(t, string(raw[40:44]), "abcd")
	eq(t, [4]byte(raw[88:92]), [4]byte{DetailOffsetSizeAndHead, 4, 0, 1})
	eq(t, cString(raw[92:124]), "Append")
	eq(t, cString(raw[124:196]), "/tmp/000001.log")
	eq(t, cString(raw[196:252]), "injected write error")
}

func TestInjectedErrorLogTest_DirectLogKeepsAllEntries(t *testing.T) {
	const n = 1100
	raw := record(t, func(l *InjectedErrorLog) {
		for i := range n {
			l.Record("Append", fmt.Sprint("file", i), ErrorDetail{}, rocksdb.IOError("injected write error"))
		}
	})
	eq(t, len(raw), n*InjectedErrorLogSize)
	eq(t, cString(raw[124:196]), "file0")
	eq(t, cString(raw[(n-1)*InjectedErrorLogSize+124:][:72]), "file1099")
}

func TestInjectedErrorLogTest_ConcurrentRecord(t *testing.T) {
	raw := record(t, func(l *InjectedErrorLog) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 200 {
					l.Record("Read", "f", ErrorDetail{}, rocksdb.IOError("injected read error"))
				}
			})
		}
		wg.Wait()
	})
	eq(t, len(raw), 800*InjectedErrorLogSize)
	for i := range 800 {
		eq(t, cString(raw[i*InjectedErrorLogSize+92:][:32]), "Read")
	}
}

func TestInjectedErrorLogTest_LongFileNameKeepsSuffix(t *testing.T) {
	name := "/tmp/" + strings.Repeat("long/", 20) + "000123.sst"
	raw := record(t, func(l *InjectedErrorLog) {
		l.Record("Append", name, ErrorDetail{}, rocksdb.IOError("injected write error"))
	})
	eq(t, cString(raw[124:196]), name[len(name)-MaxFileNameLen+1:])
}

func TestInjectedErrorLogTest_HexHead(t *testing.T) {
	eq(t, HexHead([]byte("\x01\x02\xAB\xCD"), 8), "01 02 ab cd")
	eq(t, HexHead([]byte("\x01\x02\xAB\xCD"), 2), "01 02 ...")
}

func excludingInfoLogs(typ FaultInjectionIOType) *FaultInjectionTestFS {
	fs := NewFaultInjectionTestFS(env.DefaultFileSystem())
	fs.SetFileTypesExcludedFromFaultInjection(rocksdb.InfoLogFile)
	fs.SetErrorContext(typ, 0, 1, false, false)
	fs.EnableErrorInjection(typ)
	return fs
}

func injected(t *testing.T, err error) {
	t.Helper()
	if !rocksdb.IsIOError(err) || !IsInjectedError(err, "") {
		t.Fatalf("error %v", err)
	}
}

func TestFaultInjectionTestFSTest_FaultInjectionExcludesInfoLogFiles(t *testing.T) {
	base := env.DefaultFileSystem()
	dbname, logDir := filepath.Join(t.TempDir(), "db"), filepath.Join(t.TempDir(), "logs")
	ok(t, base.CreateDir(dbname, nil))
	ok(t, base.CreateDir(logDir, nil))
	infoLog := filename.InfoLogFileName(dbname, dbname, logDir)
	oldInfoLog := filename.OldInfoLogFileName(dbname, 123, dbname, logDir)
	manifest := filename.DescriptorFileName(dbname, 1)
	for name, s := range map[string]string{oldInfoLog: "old log", manifest: "manifest"} {
		ok(t, rocksdb.WriteStringToFile(base, []byte(s), name, false, nil, nil))
	}

	fs := excludingInfoLogs(FaultInjectionMetadataRead)
	ok(t, fs.FileExists(oldInfoLog, nil))
	eq(t, fs.GetAndResetInjectedErrorCount(FaultInjectionMetadataRead), 0)
	injected(t, fs.FileExists(manifest, nil))
	eq(t, fs.GetAndResetInjectedErrorCount(FaultInjectionMetadataRead), 1)

	fs = excludingInfoLogs(FaultInjectionRead)
	seq, err := fs.NewSequentialFile(oldInfoLog, nil)
	ok(t, err)
	got, err := seq.Read(16, nil, make([]byte, 16))
	ok(t, err)
	eq(t, string(got), "old log")
	ok(t, seq.Close())
	eq(t, fs.GetAndResetInjectedErrorCount(FaultInjectionRead), 0)
	_, err = fs.NewSequentialFile(manifest, nil)
	injected(t, err)
	eq(t, fs.GetAndResetInjectedErrorCount(FaultInjectionRead), 1)

	fs = excludingInfoLogs(FaultInjectionWrite)
	w, err := fs.NewWritableFile(infoLog, nil)
	ok(t, err)
	ok(t, w.Append([]byte("current log"), nil))
	ok(t, w.Close(nil))
	eq(t, fs.GetAndResetInjectedErrorCount(FaultInjectionWrite), 0)
	_, err = fs.NewWritableFile(filename.DescriptorFileName(dbname, 2), nil)
	injected(t, err)
	eq(t, fs.GetAndResetInjectedErrorCount(FaultInjectionWrite), 1)

	fs = excludingInfoLogs(FaultInjectionMetadataWrite)
	ok(t, fs.DeleteFile(oldInfoLog, nil))
	eq(t, fs.GetAndResetInjectedErrorCount(FaultInjectionMetadataWrite), 0)
	injected(t, fs.DeleteFile(manifest, nil))
	eq(t, fs.GetAndResetInjectedErrorCount(FaultInjectionMetadataWrite), 1)
}

// closeCounter counts closes of its target.
type closeCounter struct {
	rocksdb.FSWritableFileWrapper
	closes int
}

func (c *closeCounter) Close(opts *rocksdb.IOOptions) error {
	c.closes++
	return c.FSWritableFile.Close(opts)
}

func TestFaultInjectionTestFSTest_InjectedMetadataCloseErrorDoesNotRetryInnerClose(t *testing.T) {
	fs := NewFaultInjectionTestFS(env.DefaultFileSystem())
	fs.SetErrorContext(FaultInjectionMetadataWrite, 0, 1, false, false)
	fs.EnableErrorInjection(FaultInjectionMetadataWrite)
	name := filepath.Join(t.TempDir(), "CURRENT.tmp")
	inner, err := fs.NewWritableFile(name, nil)
	ok(t, err)
	counter := &closeCounter{FSWritableFileWrapper: rocksdb.FSWritableFileWrapper{FSWritableFile: inner}}
	fs.mu.Lock()
	w := fs.newWritableFileLocked(name, counter, false)
	fs.mu.Unlock()
	ok(t, w.Append([]byte("test"), nil))
	injected(t, w.Close(nil))
	ok(t, w.Close(nil))
	eq(t, counter.closes, 0)
}

// The cases below are not upstream's: its database tests cover them.

func readAll(t *testing.T, fs rocksdb.FileSystem, name string) string {
	t.Helper()
	data, err := rocksdb.ReadFileToString(fs, name, nil)
	ok(t, err)
	return string(data)
}

func TestFaultInjectionTestFS_UnsyncedData(t *testing.T) {
	base := env.DefaultFileSystem()
	fs := NewFaultInjectionTestFS(base)
	fs.SetInjectUnsyncedDataLoss(true)
	name := filepath.Join(t.TempDir(), "f")
	w, err := fs.NewWritableFile(name, nil)
	ok(t, err)
	ok(t, w.Append([]byte("synced "), nil))
	ok(t, w.Sync(nil))
	ok(t, w.Append([]byte("lost"), nil))
	eq(t, readAll(t, base, name), "synced ")
	eq(t, readAll(t, fs, name), "synced lost")
	eq(t, w.GetFileSize(nil), 11)
	size, err := fs.GetFileSize(name, nil)
	ok(t, err)
	eq(t, size, 11)
	fs.SetReadUnsyncedData(false)
	eq(t, readAll(t, fs, name), "synced ")
	fs.SetReadUnsyncedData(true)

	// A reader sees data become synced behind its back.
	seq, err := fs.NewSequentialFile(name, nil)
	ok(t, err)
	buf := make([]byte, 100)
	got, err := seq.Read(9, nil, buf)
	ok(t, err)
	eq(t, string(got), "synced lo")
	ok(t, w.Sync(nil))
	ok(t, w.Append([]byte(" more"), nil))
	got, err = seq.Read(100, nil, buf)
	ok(t, err)
	eq(t, string(got), "st more")
	ok(t, seq.Close())

	ok(t, w.Close(nil))
	eq(t, readAll(t, base, name), "synced lost")
	eq(t, readAll(t, fs, name), "synced lost more")
	fs.DropUnsyncedFileData()
	eq(t, readAll(t, fs, name), "synced lost")
	size, err = fs.GetFileSize(name, nil)
	ok(t, err)
	eq(t, size, 11)
}

func TestFaultInjectionTestFS_SyncByName(t *testing.T) {
	base := env.DefaultFileSystem()
	fs := NewFaultInjectionTestFS(base)
	fs.SetInjectUnsyncedDataLoss(true)
	name := filepath.Join(t.TempDir(), "f")
	ok(t, rocksdb.WriteStringToFile(fs, []byte("data"), name, false, nil, nil))
	eq(t, readAll(t, base, name), "")
	ok(t, fs.SyncFile(name, nil, nil, true))
	eq(t, readAll(t, base, name), "data")
	fs.DropUnsyncedFileData()
	eq(t, readAll(t, fs, name), "data")
}

func TestFaultInjectionTestFS_DropRandom(t *testing.T) {
	fs := NewFaultInjectionTestFS(env.DefaultFileSystem())
	fs.SetInjectUnsyncedDataLoss(true)
	name := filepath.Join(t.TempDir(), "f")
	w, err := fs.NewWritableFile(name, nil)
	ok(t, err)
	ok(t, w.Append([]byte("12345678"), nil))
	fs.DropRandomUnsyncedFileData(util.NewRandom(1))
	s := readAll(t, fs, name)
	if len(s) >= 8 || !strings.HasPrefix("12345678", s) {
		t.Errorf("file has %q", s)
	}
	ok(t, w.Close(nil))
}

func TestFaultInjectionTestFS_Inactive(t *testing.T) {
	base := env.DefaultFileSystem()
	fs := NewFaultInjectionTestFS(base)
	dir := t.TempDir()
	w, err := fs.NewWritableFile(dir+"/f", nil)
	ok(t, err)
	eq(t, fs.HasOpenFile(), true)
	fs.SetFilesystemActive(false, rocksdb.NoSpace("full"))
	for _, err := range []error{w.Append([]byte("x"), nil), w.Sync(nil), w.Flush(nil), fs.FileExists(dir+"/f", nil),
		fs.RenameFile(dir+"/f", dir+"/g", nil), fs.DeleteFile(dir+"/f", nil)} {
		eq(t, rocksdb.IsNoSpace(err), true)
	}
	free, err := fs.GetFreeSpace(dir, nil)
	ok(t, err)
	eq(t, free, 0)
	nok(t, w.Close(nil))
	eq(t, fs.HasOpenFile(), false)
	fs.ResetState()
	ok(t, fs.FileExists(dir+"/f", nil))
	eq(t, readAll(t, fs, dir+"/f"), "")
}

func TestFaultInjectionTestFS_DirectorySync(t *testing.T) {
	base := env.DefaultFileSystem()
	fs := NewFaultInjectionTestFS(base)
	dir := t.TempDir()
	write := func(name, s string) { ok(t, rocksdb.WriteStringToFile(fs, []byte(s), dir+"/"+name, true, nil, nil)) }
	write("kept", "1")
	write("CURRENT", "old")
	d, err := fs.NewDirectory(dir+"/", nil)
	ok(t, err)
	ok(t, d.Fsync(nil))
	write("gone", "2")
	write("tmp", "new")
	ok(t, fs.RenameFile(dir+"/tmp", dir+"/CURRENT", nil))
	eq(t, readAll(t, fs, dir+"/CURRENT"), "new")
	ok(t, fs.DeleteFilesCreatedAfterLastDirSync(nil))
	names, err := base.GetChildren(dir, nil)
	ok(t, err)
	eq(t, len(names), 2)
	eq(t, readAll(t, fs, dir+"/kept"), "1")
	eq(t, readAll(t, fs, dir+"/CURRENT"), "old")
	ok(t, d.Close(nil))
}

func TestFaultInjectionTestFS_Contracts(t *testing.T) {
	fs := NewFaultInjectionTestFS(env.DefaultFileSystem())
	name := filepath.Join(t.TempDir(), "f")
	opts := rocksdb.DefaultFileOptions()
	opts.OpenContract = rocksdb.FileOpenNoReopenForWrite | rocksdb.FileOpenNoReadersWhileOpenForWrite
	w, err := fs.NewWritableFile(name, &opts)
	ok(t, err)
	_, err = fs.NewSequentialFile(name, nil)
	eq(t, rocksdb.IsNotSupported(err), true)
	ok(t, w.Append([]byte("x"), nil))
	ok(t, w.Close(nil))
	eq(t, readAll(t, fs, name), "x")
	_, err = fs.NewWritableFile(name, nil)
	eq(t, rocksdb.IsNotSupported(err), true)
	ok(t, fs.SyncFile(name, nil, nil, false)) // changes nothing
	w, err = fs.ReopenWritableFile(name, nil)
	ok(t, err)
	eq(t, rocksdb.IsNotSupported(w.Append([]byte("y"), nil)), true)
	ok(t, w.Close(nil))
}

func TestFaultInjectionTestFS_InjectByOp(t *testing.T) {
	fs := NewFaultInjectionTestFS(env.DefaultFileSystem())
	name := filepath.Join(t.TempDir(), "000001.log")
	fs.SetErrorInjector(func(op, file string) error {
		if op == "Append" && strings.HasSuffix(file, ".log") {
			return rocksdb.IOError("injected here")
		}
		return nil
	})
	w, err := fs.NewWritableFile(name, nil)
	ok(t, err)
	injected(t, w.Append([]byte("x"), nil))
	fs.SetErrorInjector(nil)
	ok(t, w.Append([]byte("x"), nil))
	fs.SetErrorContext(FaultInjectionWrite, 7, 1, true, false)
	fs.EnableAllErrorInjection()
	err = w.Append([]byte("x"), nil)
	eq(t, IsFailedToWriteToWALError(err), true)
	eq(t, rocksdb.AsStatus(err).Retryable, true)
	fs.DisableAllErrorInjection()
	ok(t, w.Close(nil))
	eq(t, readAll(t, fs, name), "x")
}

func TestFaultInjectionTestFS_ChecksumHandoff(t *testing.T) {
	fs := NewFaultInjectionTestFS(env.DefaultFileSystem())
	w, err := fs.NewWritableFile(filepath.Join(t.TempDir(), "f"), nil)
	ok(t, err)
	data := []byte("test")
	info := rocksdb.DataVerificationInfo{Checksum: binary.LittleEndian.AppendUint32(nil, util.Crc32cValue(data))}
	ok(t, w.AppendWithVerification(data, nil, info))
	eq(t, rocksdb.IsCorruption(w.AppendWithVerification([]byte("tesu"), nil, info)), true)
	fs.IngestDataCorruptionBeforeWrite()
	eq(t, rocksdb.IsCorruption(w.AppendWithVerification(data, nil, info)), true)
	fs.NoDataCorruptionBeforeWrite()
	ok(t, w.AppendWithVerification(data, nil, info))
	ok(t, w.Close(nil))
}
