// Port of db/repair.cc. Differs: everything is looked at before anything is
// changed, and what would come out wrong (a comparator that is not the files',
// prepared transactions, paths of families) is refused then; families that live
// only in WALs, and blob files, are kept; tables take from the old MANIFEST what
// they do not say themselves.

package dbimpl

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/rocksdb-go/rocksdb/db"
	"github.com/rocksdb-go/rocksdb/db/blob/blobformat"
	"github.com/rocksdb-go/rocksdb/db/version"
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/file"
	"github.com/rocksdb-go/rocksdb/file/filename"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/util"
)

// lostDirectory takes the files that a repair could not use, and those it has
// replaced; it is made beside them.
const lostDirectory = "lost"

// repairedTable is a table found or made.
type repairedTable struct {
	meta *version.FileMetaData
	path string
	// What the properties say; known is false where they could not be read.
	known          bool
	props          *rocksdb.TableProperties
	columnFamilyID uint32
}

// repairedBlobFile is a blob file found.
type repairedBlobFile struct {
	number         uint64
	path           string
	columnFamilyID uint32
	addition       blobformat.BlobFileAddition
	whole          bool // header and footer are there
}

// repairer is a repair at work.
type repairer struct {
	d        *DBImpl
	families map[string]*rocksdb.ColumnFamilyOptions
	def      *rocksdb.ColumnFamilyOptions
	unknown  *rocksdb.ColumnFamilyOptions // nil: unknown families are refused

	manifests []string // names in the database's directory
	wals      []uint64
	tables    []*repairedTable
	blobs     []*repairedBlobFile
	nextFile  uint64 // above all numbers in the directories

	old *db.SalvagedManifest // of the newest MANIFEST; never nil
	// walFamilies are those that WALs have entries of.
	walFamilies map[uint32]bool
	good        []*repairedTable
}

// RepairDB makes a database that cannot be opened openable again, with as much
// of its data as its tables and WALs hold. families say how to read families;
// one of them has to be the default one. Tables of families that are not among
// them are read with unknown or, where that is nil, moved to the directory
// "lost" like everything else that cannot be used. Values of deleted keys may
// come back. The database must not be open.
func RepairDB(o *rocksdb.DBOptions, dbName string, families []rocksdb.ColumnFamilyDescriptor, unknown *rocksdb.ColumnFamilyOptions) error {
	r := &repairer{families: map[string]*rocksdb.ColumnFamilyOptions{}, unknown: unknown, walFamilies: map[uint32]bool{}}
	for i := range families {
		r.families[families[i].Name] = &families[i].Options
	}
	if r.def = r.families[rocksdb.DefaultColumnFamilyName]; r.def == nil {
		return rocksdb.InvalidArgument("column_families", "Must contain entry for default column family")
	}
	if err := r.checkOptions(o); err != nil {
		return err
	}
	// The lock comes before the info log: a directory that is not there stays
	// away.
	e := o.Env
	if e == nil {
		e = env.Default()
	}
	lock, err := e.GetFileSystem().LockFile(filename.LockFileName(dbName), rocksdb.NewIOOptions())
	if err != nil {
		return err
	}
	d, err := newDBImpl(o, dbName, openForWriting)
	if err != nil {
		_ = e.GetFileSystem().UnlockFile(lock, rocksdb.NewIOOptions())
		return err
	}
	d.dbLock = lock
	r.d = d
	err = r.run()
	if err != nil {
		logging.Warn(d.infoLog, "RepairDB() failed: %v", err)
	}
	if e := d.closeImpl(); err == nil {
		err = e
	}
	return err
}

// checkOptions refuses what tables would be written wrongly with, and families
// with directories of their own: their tables would not be found, and be taken
// for obsolete afterwards.
func (r *repairer) checkOptions(o *rocksdb.DBOptions) error {
	all := slices.Collect(maps.Values(r.families))
	if r.unknown != nil {
		all = append(all, r.unknown)
	}
	for _, f := range all {
		plain := *f // a repair writes no blob files
		plain.EnableBlobFiles, plain.EnableBlobGarbageCollection = false, false
		if err := db.CheckBuilt(&plain); err != nil {
			return err
		}
		if len(f.CFPaths) > 0 && !slices.Equal(f.CFPaths, o.DBPaths) {
			return rocksdb.NotSupported("RepairDB of a column family with cf_paths")
		}
	}
	return validateDBOptions(o)
}

func (r *repairer) run() error {
	d := r.d
	if err := d.dirs.Set(d.fs, d.dbName, d.immutable.WALDir, d.immutable.DBPaths); err != nil {
		return err
	}
	if err := r.findFiles(); err != nil {
		return err
	}
	r.readManifests()
	if err := r.examine(); err != nil {
		return err
	}
	// From here on files change.
	for _, m := range r.manifests {
		r.archive(d.dbName + "/" + m)
	}
	if err := d.newDB(); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.versions.Recover([]rocksdb.ColumnFamilyDescriptor{{Name: rocksdb.DefaultColumnFamilyName, Options: *r.def}}, false, nil); err != nil {
		return err
	}
	d.families = d.versions.GetColumnFamilySet()
	d.versions.MarkFileNumberUsed(r.nextFile - 1)
	if d.dbID != "" {
		d.versions.SetDBID(d.dbID)
	}
	if err := r.scanTables(r.tables); err != nil {
		return err
	}
	if err := r.addKnownFamilies(); err != nil {
		return err
	}
	made, err := r.convertWALs()
	if err != nil {
		return err
	}
	if err := r.scanTables(made); err != nil {
		return err
	}
	if err := r.install(); err != nil {
		return err
	}
	var bytes uint64
	for _, t := range r.good {
		bytes += t.meta.FD.GetFileSize()
	}
	logging.Warn(d.infoLog, "**** Repaired rocksdb %s; recovered %d files; %d bytes. Some data may have been lost. ****",
		d.dbName, len(r.good), bytes)
	return r.writeIdentity()
}

// findFiles lists what is in the directories.
func (r *repairer) findFiles() error {
	d := r.d
	none := db.ListingOptions()
	r.nextFile = 2 // 1 is the new MANIFEST's
	note := func(number uint64) { r.nextFile = max(r.nextFile, number+1) }
	seen := map[string]bool{}
	for i, p := range d.immutable.DBPaths {
		logging.Info(d.infoLog, "Searching path %s\n", p.Path)
		names, err := d.fs.GetChildren(p.Path, none)
		if err != nil {
			return err
		}
		seen[filename.NormalizePath(p.Path+"/")] = true
		for _, n := range names {
			f, ok := filename.ParseFileName(n, "")
			if !ok {
				continue
			}
			if f.Type != rocksdb.DescriptorFile {
				note(f.Number)
			}
			switch path := p.Path + "/" + n; f.Type {
			case rocksdb.TableFile:
				meta := version.NewFileMetaData()
				meta.FD.Set(f.Number, uint32(i), 0, meta.FD.SmallestSeqno, meta.FD.LargestSeqno)
				r.tables = append(r.tables, &repairedTable{meta: meta, path: path})
			case rocksdb.BlobFile:
				r.blobs = append(r.blobs, &repairedBlobFile{number: f.Number, path: path})
			}
		}
	}
	names, err := d.fs.GetChildren(d.dbName, none)
	if err != nil {
		return err
	}
	for _, n := range names {
		if f, ok := filename.ParseFileName(n, ""); ok {
			note(f.Number)
			if f.Type == rocksdb.DescriptorFile {
				r.manifests = append(r.manifests, n)
			}
		}
	}
	if r.wals, err = d.listWALs(); err != nil {
		return err
	}
	if len(r.wals) > 0 {
		note(r.wals[len(r.wals)-1])
	}
	slices.SortFunc(r.tables, func(a, b *repairedTable) int { return cmp.Compare(a.meta.FD.GetNumber(), b.meta.FD.GetNumber()) })
	slices.SortFunc(r.blobs, func(a, b *repairedBlobFile) int { return cmp.Compare(a.number, b.number) })
	return nil
}

// readManifests learns what it can: from the MANIFEST that CURRENT names or,
// without one that is whole, from the newest that is.
func (r *repairer) readManifests() {
	d := r.d
	r.old = &db.SalvagedManifest{Families: map[uint32]db.SalvagedFamily{0: {Name: rocksdb.DefaultColumnFamilyName}}}
	var paths []string
	if path, _, err := db.GetCurrentManifestPath(d.dbName, d.fs, false); err == nil {
		paths = append(paths, path)
	}
	byNumber := slices.Clone(r.manifests)
	slices.SortFunc(byNumber, func(a, b string) int {
		x, _ := filename.ParseFileName(a, "")
		y, _ := filename.ParseFileName(b, "")
		return cmp.Compare(y.Number, x.Number)
	})
	for _, m := range byNumber {
		paths = append(paths, d.dbName+"/"+m)
	}
	best := -1
	for _, path := range paths {
		m, err := db.SalvageManifest(path, d.fs)
		if err != nil {
			logging.Warn(d.infoLog, "%s: ignoring %v", path, err)
			continue
		}
		if m.Complete {
			r.old = m
			return
		}
		if n := len(m.Families) + len(m.Tables); n > best {
			r.old, best = m, n
		}
	}
}

// optionsOf gives a family's options; nil for one that is not known.
func (r *repairer) optionsOf(name string) *rocksdb.ColumnFamilyOptions {
	if o := r.families[name]; o != nil {
		return o
	}
	return r.unknown
}

// checkComparator refuses to read a family in another order than its files are
// in: the repaired database would answer wrongly.
func (r *repairer) checkComparator(path, family, name string) error {
	o := r.optionsOf(family)
	if name == "" || o == nil {
		return nil
	}
	used := util.BytewiseComparator().Name()
	if o.Comparator != nil {
		used = o.Comparator.Name()
	}
	if used != name {
		return rocksdb.AsStatus(rocksdb.InvalidArgument("Comparator of column family "+family+" is "+used, "does not match "+name)).In(path)
	}
	return nil
}

// addFamily makes a family in the new MANIFEST. The DB mutex is held.
func (r *repairer) addFamily(name string, id uint32) error {
	d := r.d
	o := r.optionsOf(name)
	if o == nil {
		return rocksdb.Corruptionf("Encountered unknown column family with name=%s, id=%d", name, id)
	}
	if name == "" {
		return rocksdb.Corruptionf("Encountered column family without a name, id=%d", id)
	}
	if d.families.GetColumnFamilyByName(name) != nil {
		return rocksdb.Corruptionf("Encountered column family with name=%s twice, id=%d", name, id)
	}
	s := db.SanitizeColumnFamilyOptions(d.immutable, false, o)
	e := &version.VersionEdit{}
	e.SetComparatorName(s.Comparator.Name())
	e.SetPersistUserDefinedTimestamps(s.PersistUserDefinedTimestamps)
	e.SetLogNumber(0)
	e.SetColumnFamily(id)
	e.AddColumnFamily(name)
	return d.versions.LogAndApply(&db.LogAndApplyRequest{Edits: []*version.VersionEdit{e}, Mutex: &d.mu, DBDirectory: d.dirs.DBDir(), NewCFOptions: o})
}

// addKnownFamilies makes the families that no table names: those of the old
// MANIFEST, all of them where it is whole, else those that the WALs have
// entries of. Families that may not be made are left out.
func (r *repairer) addKnownFamilies() error {
	d := r.d
	for _, id := range slices.Sorted(maps.Keys(r.old.Families)) {
		if d.families.GetColumnFamily(id) != nil || !r.old.Complete && !r.walFamilies[id] {
			continue
		}
		name := r.old.Families[id].Name
		if r.optionsOf(name) == nil || d.families.GetColumnFamilyByName(name) != nil {
			logging.Warn(d.infoLog, "Leaving out column family %s, id %d", name, id)
			continue
		}
		if err := r.addFamily(name, id); err != nil {
			return err
		}
	}
	return nil
}

// install writes the tables and blob files of all families to the MANIFEST.
func (r *repairer) install() error {
	d := r.d
	byFamily := map[uint32][]*version.FileMetaData{}
	var last rocksdb.SequenceNumber
	for _, t := range r.good {
		byFamily[t.columnFamilyID] = append(byFamily[t.columnFamilyID], t.meta)
		last = max(last, t.meta.FD.LargestSeqno)
	}
	d.versions.SetAllSequences(last)
	blobs := r.blobsToKeep(byFamily)
	for _, id := range slices.Sorted(maps.Keys(byFamily)) {
		files := byFamily[id]
		cfd := d.families.GetColumnFamily(id)
		db.NumberRepairedFiles(files, cfd)
		e := &version.VersionEdit{}
		e.SetComparatorName(cfd.UserComparator().Name())
		e.SetPersistUserDefinedTimestamps(cfd.IOptions().PersistUserDefinedTimestamps)
		e.SetLogNumber(0)
		e.SetNextFile(d.versions.CurrentNextFileNumber())
		e.SetColumnFamily(id)
		for _, b := range blobs[id] {
			e.AddBlobFile(b.addition)
		}
		for _, f := range files {
			e.AddFile(0, f)
		}
		if err := d.versions.LogAndApply(&db.LogAndApplyRequest{CFD: cfd, Edits: []*version.VersionEdit{e}, Mutex: &d.mu, DBDirectory: d.dirs.DBDir()}); err != nil {
			return err
		}
	}
	return nil
}

// writeIdentity brings IDENTITY in step with the new MANIFEST.
func (r *repairer) writeIdentity() error {
	d := r.d
	if d.dbID == "" || !d.immutable.WriteIdentityFile {
		return nil
	}
	return file.SetIdentityFile(&defaultWriteOptions, d.env, d.dbName, d.immutable.MetadataWriteTemperature, d.dbID)
}

// archive moves a file into the directory "lost" beside it.
func (r *repairer) archive(path string) {
	d := r.d
	none := rocksdb.NewIOOptions()
	at := strings.LastIndexByte(path, '/')
	dir := path[:max(at, 0)] + "/" + lostDirectory
	err := d.fs.CreateDirIfMissing(dir, none)
	if err == nil {
		err = d.fs.RenameFile(path, dir+path[max(at, 0):], none)
	}
	logging.Info(d.infoLog, "Archiving %s: %s\n", path, statusText(err))
}
