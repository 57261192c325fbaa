// Port of the makers of include/rocksdb/{env,env_encryption}.h.

package rocksdb

import (
	"github.com/rocksdb-go/rocksdb/env"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/utilities/fsutil"
)

// CreateEnvFromURI makes an Env of a name or an option string, envURI, or the
// Env of cfg (nil for the defaults) with the file system that fsURI stands for:
// "TimedFS", "{id=EncryptedFileSystem;provider=…}". Only one may be given;
// without any it is cfg's Env. Upstream: Env::CreateFromUri.
func CreateEnvFromURI(cfg *ConfigOptions, envURI, fsURI string) (Env, error) {
	RegisterBuiltins()
	return options.CreateEnvFromURI(orDefaultConfig(cfg), envURI, fsURI)
}

// NewEncryptedEnv is base with the contents of files encrypted; names and the
// info log are not.
func NewEncryptedEnv(base Env, provider EncryptionProvider) (Env, error) {
	return env.NewEncryptedEnv(base, provider)
}

// NewCTREncryptionProvider encrypts with a block cipher in counter mode. Blocks
// are 8 to 2048 bytes. Upstream: EncryptionProvider::NewCTRProvider.
func NewCTREncryptionProvider(cipher BlockCipher) EncryptionProvider {
	return env.NewCTRProvider(cipher)
}

// NewROT13Cipher is a cipher for tests; it hides nothing.
func NewROT13Cipher(blockSize int) BlockCipher { return env.NewROT13Cipher(blockSize) }

// NewTimedEnv is base with a file system that measures how long calls take; see
// TimedFileSystem.EnvNanos.
func NewTimedEnv(base Env) Env { return fsutil.NewTimedEnv(base) }

// NewChrootEnv is base with a directory, which has to exist, as the root of its
// files.
func NewChrootEnv(base Env, dir string) (Env, error) { return env.NewChrootEnv(base, dir) }
