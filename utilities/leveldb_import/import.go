// No upstream twin: writes a database of a LevelDB directory's contents.

package leveldbimport

import (
	"path/filepath"
	"time"

	dbimpl "github.com/rocksdb-go/rocksdb/db/db_impl"
	"github.com/rocksdb-go/rocksdb/db/writebatch"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// unfinished is what an unfinished database's name ends in.
const unfinished = ".importing"

// batchSize in bytes.
const batchSize = 1 << 20

// progressEvery is how often Progress is called at most.
const progressEvery = 500 * time.Millisecond

// Options say how to import. The zero value of all but Target will do.
type Options struct {
	// Env of source and target; nil is the default one.
	Env rocksdb.Env
	// Target are the options of the new database. Its comparator may be any.
	Target rocksdb.Options
	// Progress is called now and then, by the goroutine of Import; may be nil.
	Progress func(Stats)
}

// Import makes a new database at target of all that the LevelDB directory
// source holds. target must not exist, or be an empty directory. Until all is
// written and synced the database has target's name with ".importing" behind
// it; on an error it is deleted. Target's plug-ins have to be registered.
func Import(source, target string, o *Options) (stats Stats, err error) {
	opts := *o
	if opts.Env == nil {
		opts.Env = opts.Target.Env
	}
	if opts.Env == nil {
		opts.Env = env.Default()
	}
	fs := opts.Env.GetFileSystem()
	target = filepath.Clean(target)
	temp := target + unfinished
	if err := checkFree(fs, target, temp); err != nil {
		return Stats{}, err
	}
	s, err := Open(opts.Env, source)
	if err != nil {
		return Stats{}, err
	}
	defer s.Close()
	t := opts.Target
	t.Env, t.CreateIfMissing, t.ErrorIfExists = opts.Env, true, true
	if err = write(s, temp, &t, opts.Progress); err == nil {
		err = publish(fs, temp, target)
	}
	if err != nil {
		if e := dbimpl.DestroyDB(temp, &t, nil); e != nil {
			err = rocksdb.AppendMessage(err, "; the unfinished database stays at ", temp)
		}
	}
	return s.Stats(), err
}

// checkFree refuses a target that has something in it, and to go on with what
// an import left that was killed.
func checkFree(fs rocksdb.FileSystem, target, temp string) error {
	if err := fs.FileExists(temp, nil); err == nil {
		return rocksdb.InvalidArgument(temp, "is there, from an import that was cut off; delete it first")
	} else if !rocksdb.IsNotFound(err) {
		return err
	}
	if err := fs.FileExists(target, nil); err != nil {
		if rocksdb.IsNotFound(err) {
			return nil
		}
		return err
	}
	names, err := fs.GetChildren(target, nil)
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return rocksdb.InvalidArgument(target, "is not empty")
	}
	return nil
}

// write makes the database at path.
func write(s *Source, path string, o *rocksdb.Options, progress func(Stats)) (err error) {
	d, handles, err := dbimpl.Open(&o.DBOptions, path, []rocksdb.ColumnFamilyDescriptor{
		{Name: rocksdb.DefaultColumnFamilyName, Options: o.ColumnFamilyOptions}})
	if err != nil {
		return err
	}
	defer func() {
		if e := d.DestroyColumnFamilyHandle(handles[0]); err == nil {
			err = e
		}
		if e := d.Close(); err == nil {
			err = e
		}
	}()
	wo := rocksdb.DefaultWriteOptions()
	wo.DisableWAL = true // the flush at the end makes all durable
	b := writebatch.New()
	flush := func() error {
		err := d.Write(&wo, b)
		b.Clear()
		return err
	}
	last := time.Now()
	err = s.Iterate(func(key, value []byte) error {
		if err := b.PutCF(handles[0], key, value); err != nil {
			return err
		}
		if b.GetDataSize() < batchSize {
			return nil
		}
		if progress != nil && time.Since(last) >= progressEvery {
			last = time.Now()
			progress(s.Stats())
		}
		return flush()
	})
	if err == nil && b.Count() > 0 {
		err = flush()
	}
	if err == nil {
		fo := rocksdb.DefaultFlushOptions()
		err = d.Flush(&fo, handles[0])
	}
	return err
}

// publish gives the finished database its name.
func publish(fs rocksdb.FileSystem, temp, target string) error {
	opts := rocksdb.NewIOOptions()
	if err := fs.FileExists(target, opts); err == nil { // an empty directory
		if err := fs.DeleteDir(target, opts); err != nil {
			return err
		}
	}
	if err := fs.RenameFile(temp, target, opts); err != nil {
		return err
	}
	dir, err := fs.NewDirectory(filepath.Dir(target), opts)
	if err != nil {
		return err
	}
	err = dir.Fsync(opts)
	if e := dir.Close(opts); err == nil {
		err = e
	}
	return err
}
