// Port of the CreateEnvTest cases of env/env_test.cc. Differs: no owners of made
// objects; wrappers are made with a target.

package env_test

import (
	"testing"

	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/env/mockenv"
	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// createConfig ignores nothing and has a registry of its own.
func createConfig() *rocksdb.ConfigOptions {
	fsutil.RegisterDefault()
	cfg := rocksdb.DefaultConfigOptions()
	cfg.IgnoreUnsupportedOptions = false
	cfg.Registry = registry.NewInstance()
	return &cfg
}

func addFactory(cfg *rocksdb.ConfigOptions, kind, name string, make func() any) {
	cfg.Registry.(*registry.Registry).AddNewLibrary("test").AddFactory(kind, name, func(*rocksdb.ConfigOptions, string) (any, error) { return make(), nil })
}

func inner(t *testing.T, o any) rocksdb.Customizable {
	t.Helper()
	w, isWrapper := o.(rocksdb.WithInner)
	if !isWrapper {
		t.Fatalf("%T wraps nothing", o)
	}
	return w.Inner()
}

// create makes an object of a kind and checks that its text makes an equal one.
func create[T rocksdb.Customizable](t *testing.T, cfg *rocksdb.ConfigOptions, kind, value string) T {
	t.Helper()
	o, err := options.CreateFromString[T](cfg, kind, value)
	ok(t, err)
	sameByText(t, cfg, kind, o)
	return o
}

// sameByText makes an object of what is written of another, which equals it.
func sameByText[T rocksdb.Customizable](t *testing.T, cfg *rocksdb.ConfigOptions, kind string, o T) T {
	t.Helper()
	text, err := options.ObjectToString(cfg, o)
	ok(t, err)
	c, err := options.CreateFromString[T](cfg, kind, text)
	ok(t, err)
	if same, mismatch := options.ObjectsAreEquivalent(cfg, o, c); !same {
		t.Fatalf("%s: the copy differs in %q", text, mismatch)
	}
	again, err := options.ObjectToString(cfg, c)
	ok(t, err)
	eq(t, again, text)
	return c
}

func notCreated[T any](t *testing.T, cfg *rocksdb.ConfigOptions, kind, value string) {
	t.Helper()
	_, err := options.CreateFromString[T](cfg, kind, value)
	nok(t, err)
}

// createFS makes a file system and checks its name and what it wraps.
func createFS(t *testing.T, cfg *rocksdb.ConfigOptions, value, name, target string) rocksdb.FileSystem {
	t.Helper()
	fs := create[rocksdb.FileSystem](t, cfg, registry.KindFileSystem, value)
	eq(t, fs.Name(), name)
	in := inner(t, fs)
	eq(t, in.Name(), target)
	if target != env.DefaultFileSystem().Name() {
		in = inner(t, in)
	}
	eq(t, in, rocksdb.Customizable(env.DefaultFileSystem()))
	return fs
}

func text(t *testing.T, o any) string {
	t.Helper()
	cfg := rocksdb.DefaultConfigOptions()
	s, err := options.ObjectToString(&cfg, o)
	ok(t, err)
	return s
}

const posixFS = "PosixFileSystem"

func TestCreateEnvTest_LoadCTRProvider(t *testing.T) {
	cfg := createConfig()
	cfg.InvokePrepareOptions = false
	load := func(value string) (rocksdb.EncryptionProvider, rocksdb.BlockCipher) {
		p, err := options.CreateFromString[rocksdb.EncryptionProvider](cfg, registry.KindEncryptionProvider, value)
		ok(t, err)
		eq(t, p.Name(), "CTR")
		return p, *p.(rocksdb.Configurable).OptionsPtr(rocksdb.CTRProviderOptionsName).(*rocksdb.BlockCipher)
	}
	p, cipher := load("CTR")
	nok(t, p.(rocksdb.OptionsPreparer).PrepareOptions(cfg))
	nok(t, p.(rocksdb.OptionsValidator).ValidateOptions(nil, nil))
	eq(t, cipher, nil)
	for _, id := range []string{"CTR://test", "1://test", "id=CTR; cipher=ROT13"} {
		p, cipher := load(id)
		ok(t, p.(rocksdb.OptionsPreparer).PrepareOptions(cfg))
		ok(t, p.(rocksdb.OptionsValidator).ValidateOptions(nil, nil))
		eq(t, cipher.Name(), "ROT13")
		eq(t, text(t, p), "{id=CTR;cipher={id=ROT13;block_size=32;};}")
	}
}

func TestCreateEnvTest_LoadROT13Cipher(t *testing.T) {
	cfg := createConfig()
	eq(t, create[rocksdb.BlockCipher](t, cfg, registry.KindBlockCipher, "ROT13").Name(), "ROT13")
	eq(t, create[rocksdb.BlockCipher](t, cfg, registry.KindBlockCipher, "ROT13:16").BlockSize(), 16)
}

func TestCreateEnvTest_CreateDefaultSystemClock(t *testing.T) {
	clock := create[rocksdb.SystemClock](t, createConfig(), registry.KindSystemClock, rocksdb.DefaultSystemClockName)
	eq(t, clock, rocksdb.DefaultSystemClock())
}

// mockClock is a clock known to these tests only.
type mockClock struct{ rocksdb.SystemClockWrapper }

func (*mockClock) Name() string { return "MockSystemClock" }

func TestCreateEnvTest_CreateMockSystemClock(t *testing.T) {
	cfg := createConfig()
	addFactory(cfg, registry.KindSystemClock, "MockSystemClock", func() any {
		return &mockClock{rocksdb.SystemClockWrapper{Target: rocksdb.DefaultSystemClock()}}
	})
	const emulated = "TimeEmulatedSystemClock"
	clock := create[rocksdb.SystemClock](t, cfg, registry.KindSystemClock, emulated)
	eq(t, clock.Name(), emulated)
	eq(t, inner(t, clock), rocksdb.Customizable(rocksdb.DefaultSystemClock()))

	clock = create[rocksdb.SystemClock](t, cfg, registry.KindSystemClock, "id="+emulated+";target=MockSystemClock")
	eq(t, clock.Name(), emulated)
	eq(t, inner(t, clock).Name(), "MockSystemClock")
	eq(t, inner(t, inner(t, clock)), rocksdb.Customizable(rocksdb.DefaultSystemClock()))
	eq(t, text(t, clock), "{id=TimeEmulatedSystemClock;time_elapse_only_sleep=false;mock_sleep=false;target=MockSystemClock}")
}

func TestCreateEnvTest_CreateReadOnlyFileSystem(t *testing.T) {
	cfg := createConfig()
	createFS(t, cfg, "ReadOnlyFileSystem", "ReadOnlyFileSystem", posixFS)
	fs := createFS(t, cfg, "id=ReadOnlyFileSystem; target=TimedFS", "ReadOnlyFileSystem", "TimedFS")
	eq(t, text(t, fs), "{id=ReadOnlyFileSystem;target=TimedFS}")
}

func TestCreateEnvTest_CreateTimedFileSystem(t *testing.T) {
	cfg := createConfig()
	createFS(t, cfg, "TimedFS", "TimedFS", posixFS)
	createFS(t, cfg, "id=TimedFS; target=ReadOnlyFileSystem", "TimedFS", "ReadOnlyFileSystem")
}

func TestCreateEnvTest_CreateCountedFileSystem(t *testing.T) {
	cfg := createConfig()
	createFS(t, cfg, "CountedFileSystem", "CountedFileSystem", posixFS)
	createFS(t, cfg, "id=CountedFileSystem; target=ReadOnlyFileSystem", "CountedFileSystem", "ReadOnlyFileSystem")
}

func TestCreateEnvTest_CreateChrootFileSystem(t *testing.T) {
	cfg := createConfig()
	notCreated[rocksdb.FileSystem](t, cfg, registry.KindFileSystem, "ChrootFS")
	notCreated[rocksdb.FileSystem](t, cfg, registry.KindFileSystem, "chroot_dir=/No/Such/Directory; id=ChrootFS")
	chroot := "chroot_dir=" + t.TempDir() + "; id=ChrootFS"
	createFS(t, cfg, chroot, "ChrootFS", posixFS)
	createFS(t, cfg, chroot+"; target=TimedFS", "ChrootFS", "TimedFS")
	createFS(t, cfg, "target={"+chroot+"}; id=TimedFS", "TimedFS", "ChrootFS")
}

func TestCreateEnvTest_CreateEncryptedFileSystem(t *testing.T) {
	cfg := createConfig()
	notCreated[rocksdb.FileSystem](t, cfg, registry.KindFileSystem, "EncryptedFileSystem")
	const base = "provider=1://test; id=EncryptedFileSystem"
	createFS(t, cfg, base, "EncryptedFileSystem", posixFS)
	fs := createFS(t, cfg, base+"; target=TimedFS", "EncryptedFileSystem", "TimedFS")
	eq(t, text(t, fs), "{id=EncryptedFileSystem;provider={id=CTR;cipher={id=ROT13;block_size=32;};};target=TimedFS}")
}

func TestCreateEnvTest_CreateDefaultEnv(t *testing.T) {
	cfg := createConfig()
	for _, value := range []string{"", rocksdb.DefaultEnvName, text(t, env.Default())} {
		e, err := options.CreateEnvFromString(cfg, value)
		ok(t, err)
		eq(t, e, env.Default())
	}
}

// wrappedEnv is an Env known to these tests only.
type wrappedEnv struct{ rocksdb.EnvWrapper }

func (*wrappedEnv) Name() string { return "WrappedEnv" }

func wrap(e rocksdb.Env) rocksdb.Env { return &wrappedEnv{rocksdb.EnvWrapper{Env: e}} }

func wrappedConfig() *rocksdb.ConfigOptions {
	cfg := createConfig()
	addFactory(cfg, registry.KindEnv, "WrappedEnv", func() any { return wrap(env.Default()) })
	return cfg
}

func TestCreateEnvTest_CreateMockEnv(t *testing.T) {
	cfg := wrappedConfig()
	e := create[rocksdb.Env](t, cfg, registry.KindEnv, "MockEnv")
	if e == env.Default() {
		t.Fatal("the default Env")
	}
	for _, base := range []rocksdb.Env{env.Default(), wrap(env.Default())} {
		sameByText(t, cfg, registry.KindEnv, rocksdb.Env(mockenv.CreateWithClock(base, rocksdb.DefaultSystemClock())))
	}
}

func TestCreateEnvTest_CreateWrappedEnv(t *testing.T) {
	cfg := wrappedConfig()
	e := create[rocksdb.Env](t, cfg, registry.KindEnv, "WrappedEnv")
	if same, _ := options.ObjectsAreEquivalent(cfg, e, env.Default()); same {
		t.Fatal("equals the default Env")
	}
	e = wrap(wrap(env.Default()))
	eq(t, text(t, e), "{id=WrappedEnv;target=WrappedEnv}")
	sameByText(t, cfg, registry.KindEnv, e)
	sameByText(t, cfg, registry.KindEnv, wrap(e))
}

func TestCreateEnvTest_CreateCompositeEnv(t *testing.T) {
	cfg := wrappedConfig()
	timed := fsutil.NewTimedFileSystem(env.DefaultFileSystem())
	clock := env.NewEmulatedSystemClock(rocksdb.DefaultSystemClock(), false)
	composite := func(target rocksdb.Env, fs rocksdb.FileSystem, clock rocksdb.SystemClock) rocksdb.Env {
		return env.NewCompositeEnvWrapper(target, fs, clock)
	}
	base := sameByText(t, cfg, registry.KindEnv, rocksdb.Env(env.NewCompositeEnv(env.DefaultFileSystem())))
	eq(t, text(t, base), "{id=CompositeEnv;file_system=PosixFileSystem;clock=DefaultClock;}")
	eq(t, base.GetFileSystem(), env.DefaultFileSystem())
	eq(t, base.GetSystemClock(), rocksdb.DefaultSystemClock())

	base = sameByText(t, cfg, registry.KindEnv, rocksdb.Env(env.NewCompositeEnv(timed)))
	eq(t, base.GetFileSystem().Name(), "TimedFS")
	eq(t, base.GetSystemClock(), rocksdb.DefaultSystemClock())

	wrapped := wrap(env.Default())
	for _, e := range []rocksdb.Env{composite(wrapped, timed, nil), composite(wrapped, nil, clock), composite(wrapped, timed, clock)} {
		if c := sameByText(t, cfg, registry.KindEnv, e); c == env.Default() {
			t.Fatal("the default Env")
		}
	}

	db, cf := rocksdb.DefaultDBOptions(), rocksdb.DefaultColumnFamilyOptions()
	db.Env = composite(nil, timed, clock)
	comp, isComposite := rocksdb.CheckedCast[*env.CompositeEnv](db.Env)
	eq(t, isComposite, true)
	eq(t, comp.Inner(), nil)
	nok(t, options.ValidateOptions(&db, &cf))
	ok(t, comp.PrepareOptions(cfg))
	eq(t, comp.Inner(), rocksdb.Customizable(env.Default()))
	ok(t, options.ValidateOptions(&db, &cf))
}

// TestCreateEnvFromURI: an Env, or a file system for the Env there is.
func TestCreateEnvFromURI(t *testing.T) {
	cfg := createConfig()
	e, err := options.CreateEnvFromURI(cfg, "", "")
	ok(t, err)
	eq(t, e, env.Default())
	e, err = options.CreateEnvFromURI(cfg, "MockEnv", "")
	ok(t, err)
	eq(t, e.Name(), "MockEnv")
	cfg.Env = e
	e, err = options.CreateEnvFromURI(cfg, "", "TimedFS")
	ok(t, err)
	eq(t, inner(t, e), rocksdb.Customizable(cfg.Env))
	eq(t, e.GetFileSystem().Name(), "TimedFS")
	for _, bad := range [][2]string{{"MockEnv", "TimedFS"}, {"NoSuchEnv", ""}, {"", "NoSuchFS"}} {
		_, err = options.CreateEnvFromURI(cfg, bad[0], bad[1])
		nok(t, err)
	}
}
