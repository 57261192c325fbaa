// Port of include/rocksdb/env_encryption.h. Differs: interfaces alone; the
// encrypted file system and the built-in provider are in package env.

package rocksdb

// BlockCipher encrypts blocks of a fixed size. It is safe for concurrent use.
type BlockCipher interface {
	Name() string
	// BlockSize is in bytes.
	BlockSize() int
	// Encrypt and Decrypt change a block in place.
	Encrypt(block []byte) error
	Decrypt(block []byte) error
}

// BlockAccessCipherStream encrypts what a file has at any offset. It is safe
// for concurrent use.
type BlockAccessCipherStream interface {
	// BlockSize is in bytes.
	BlockSize() int
	// Encrypt and Decrypt change data, which the file has at fileOffset (its
	// prefix counts), in place. Neither has to begin or end with a block.
	Encrypt(fileOffset uint64, data []byte) error
	Decrypt(fileOffset uint64, data []byte) error
}

// EncryptionProvider makes the streams of an encrypted file system. It is safe
// for concurrent use.
type EncryptionProvider interface {
	Name() string
	// GetPrefixLength is the number of bytes before a file's data that belong to
	// the provider; a multiple of the page size keeps direct I/O aligned.
	GetPrefixLength() int
	// CreateNewPrefix fills a new file's prefix.
	CreateNewPrefix(fname string, prefix []byte) error
	// AddCipher gives a provider a cipher to use, for writing as well with
	// forWrite.
	AddCipher(descriptor, cipher string, length int, forWrite bool) error
	// CreateCipherStream makes the stream of a file with that prefix, which it
	// may change and keep. Corruption if the prefix makes no sense.
	CreateCipherStream(fname string, opts *EnvOptions, prefix []byte) (BlockAccessCipherStream, error)
	// GetMarker is the beginning of an encrypted file by which it is known; ""
	// when there is none.
	GetMarker() string
}
