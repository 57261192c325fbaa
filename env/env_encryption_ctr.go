// Port of env/env_encryption_ctr.h and the ciphers of env/env_encryption.cc.
// Differs: counters and initialization vectors come from the system's random
// source instead of the clock.

package env

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// CryptBlocks lets crypt change data, which begins at fileOffset, block by
// block. Where a block is not all there the bytes around it are undefined.
func CryptBlocks(blockSize int, fileOffset uint64, data []byte, crypt func(blockIndex uint64, block []byte) error) error {
	size := uint64(blockSize)
	index, begin := fileOffset/size, int(fileOffset%size)
	var partial []byte
	for ; len(data) > 0; index, begin = index+1, 0 {
		n := min(len(data), blockSize-begin)
		block := data[:n]
		if n != blockSize {
			if partial == nil {
				partial = make([]byte, blockSize)
			}
			block = partial
			copy(block[begin:], data[:n])
		}
		if err := crypt(index, block); err != nil {
			return err
		}
		if n != blockSize {
			copy(data[:n], block[begin:])
		}
		data = data[n:]
	}
	return nil
}

// CTRCipherStream XORs data with a cipher's blocks of an initialization vector
// whose first 8 bytes, little-endian, are the initial counter plus the block's
// number.
type CTRCipherStream struct {
	cipher         rocksdb.BlockCipher
	iv             []byte
	initialCounter uint64
}

// NewCTRCipherStream copies iv, which is one block of the cipher, 8 bytes or
// more.
func NewCTRCipherStream(cipher rocksdb.BlockCipher, iv []byte, initialCounter uint64) *CTRCipherStream {
	return &CTRCipherStream{cipher, bytes.Clone(iv), initialCounter}
}

// BlockSize is the cipher's.
func (s *CTRCipherStream) BlockSize() int { return s.cipher.BlockSize() }

// Encrypt changes data in place.
func (s *CTRCipherStream) Encrypt(fileOffset uint64, data []byte) error {
	pad := make([]byte, len(s.iv))
	return CryptBlocks(len(s.iv), fileOffset, data, func(index uint64, block []byte) error {
		copy(pad, s.iv)
		binary.LittleEndian.PutUint64(pad, s.initialCounter+index)
		if err := s.cipher.Encrypt(pad); err != nil {
			return err
		}
		subtle.XORBytes(block, block, pad)
		return nil
	})
}

// Decrypt is Encrypt.
func (s *CTRCipherStream) Decrypt(fileOffset uint64, data []byte) error {
	return s.Encrypt(fileOffset, data)
}

// ctrPrefixLength is a page of the largest usual size, so that data stays
// aligned for direct I/O.
const ctrPrefixLength = 4096

// CTREncryptionProvider encrypts with a CTRCipherStream. A file's prefix is 4096
// bytes: a block with the initial counter in its first 8 bytes (little-endian),
// a block that is the initialization vector, both plain, and random bytes,
// encrypted as if they were at offset 0.
type CTREncryptionProvider struct{ cipher rocksdb.BlockCipher }

// NewCTRProvider takes a cipher with blocks of 8 to 2048 bytes; nil is for
// AddCipher or the option "cipher" to give.
func NewCTRProvider(cipher rocksdb.BlockCipher) *CTREncryptionProvider {
	return &CTREncryptionProvider{cipher}
}

// Name is CTR.
func (p *CTREncryptionProvider) Name() string { return "CTR" }

// OptionsPtr has "cipher".
func (p *CTREncryptionProvider) OptionsPtr(name string) any {
	if name == rocksdb.CTRProviderOptionsName {
		return &p.cipher
	}
	return nil
}

func (p *CTREncryptionProvider) checkCipher() error {
	if p.cipher == nil {
		return rocksdb.InvalidArgument("Encryption Cipher is missing")
	}
	if n := p.cipher.BlockSize(); n < 8 || 2*n > ctrPrefixLength {
		return rocksdb.InvalidArgument("Encryption Cipher "+p.cipher.Name(), fmt.Sprintf("block size %d is not between 8 and %d", n, ctrPrefixLength/2))
	}
	return nil
}

// PrepareOptions wants a cipher.
func (p *CTREncryptionProvider) PrepareOptions(*rocksdb.ConfigOptions) error { return p.checkCipher() }

// ValidateOptions wants a cipher.
func (p *CTREncryptionProvider) ValidateOptions(*rocksdb.DBOptions, *rocksdb.ColumnFamilyOptions) error {
	return p.checkCipher()
}

// GetPrefixLength is 4096.
func (p *CTREncryptionProvider) GetPrefixLength() int { return ctrPrefixLength }

// GetMarker is none.
func (p *CTREncryptionProvider) GetMarker() string { return "" }

// AddCipher takes ROT13 with length as its block size, NotSupported for other
// names and where there is a cipher.
func (p *CTREncryptionProvider) AddCipher(_, cipher string, length int, _ bool) error {
	switch {
	case p.cipher != nil:
		return rocksdb.NotSupported("Cannot add keys to CTREncryptionProvider")
	case cipher == rot13Name:
		p.cipher = NewROT13Cipher(length)
		return nil
	}
	cfg := rocksdb.DefaultConfigOptions()
	c, err := registry.NewObject[rocksdb.BlockCipher](&cfg, registry.KindBlockCipher, cipher)
	if err != nil {
		return err
	}
	p.cipher = c
	return nil
}

// splitPrefix gives the plain parameters and the rest.
func (p *CTREncryptionProvider) splitPrefix(prefix []byte) (counter uint64, iv, rest []byte) {
	n := p.cipher.BlockSize()
	return binary.LittleEndian.Uint64(prefix), prefix[n : 2*n], prefix[2*n:]
}

// CreateNewPrefix makes a random one.
func (p *CTREncryptionProvider) CreateNewPrefix(_ string, prefix []byte) error {
	if err := p.checkCipher(); err != nil {
		return err
	}
	if _, err := rand.Read(prefix); err != nil {
		return rocksdb.IOError("While making an encryption prefix", err.Error()).Wrap(err)
	}
	counter, iv, rest := p.splitPrefix(prefix)
	return NewCTRCipherStream(p.cipher, iv, counter).Encrypt(0, rest)
}

// CreateCipherStream reads the parameters.
func (p *CTREncryptionProvider) CreateCipherStream(fname string, _ *rocksdb.EnvOptions, prefix []byte) (rocksdb.BlockAccessCipherStream, error) {
	if err := p.checkCipher(); err != nil {
		return nil, err
	}
	if len(prefix) < 2*p.cipher.BlockSize() {
		return nil, rocksdb.Corruption("encryption prefix is cut off").InAt(fname, uint64(len(prefix)))
	}
	counter, iv, _ := p.splitPrefix(prefix)
	return NewCTRCipherStream(p.cipher, iv, counter), nil
}

const rot13Name = "ROT13"

// ROT13BlockCipher adds 13 to every byte. It is for tests: it hides nothing.
type ROT13BlockCipher struct{ blockSize int }

// NewROT13Cipher has blocks of that many bytes.
func NewROT13Cipher(blockSize int) *ROT13BlockCipher { return &ROT13BlockCipher{blockSize} }

// Name is ROT13.
func (c *ROT13BlockCipher) Name() string { return rot13Name }

// OptionsPtr has "block_size".
func (c *ROT13BlockCipher) OptionsPtr(name string) any {
	if name == rocksdb.ROT13CipherOptionsName {
		return &c.blockSize
	}
	return nil
}

// BlockSize is as given.
func (c *ROT13BlockCipher) BlockSize() int { return c.blockSize }

// Encrypt adds 13.
func (c *ROT13BlockCipher) Encrypt(block []byte) error {
	for i := range block {
		block[i] += 13
	}
	return nil
}

// Decrypt is Encrypt, as upstream has it: good for counter mode alone.
func (c *ROT13BlockCipher) Decrypt(block []byte) error { return c.Encrypt(block) }

// registerEncryption adds the provider CTR, "CTR://test" and "1://test" with
// ROT13 in blocks of 32 bytes, and the cipher "ROT13" or "ROT13:SIZE".
func registerEncryption(l *registry.Library) {
	const defaultBlockSize = 32
	l.AddPattern(registry.KindEncryptionProvider, registry.NewPatternEntry("CTR").AddSuffix("://test"), func(_ *rocksdb.ConfigOptions, id string) (any, error) {
		if strings.HasSuffix(id, "://test") {
			return NewCTRProvider(NewROT13Cipher(defaultBlockSize)), nil
		}
		return NewCTRProvider(nil), nil
	})
	l.AddFactory(registry.KindEncryptionProvider, "1://test", func(*rocksdb.ConfigOptions, string) (any, error) {
		return NewCTRProvider(NewROT13Cipher(defaultBlockSize)), nil
	})
	l.AddPattern(registry.KindBlockCipher, registry.NewPatternEntry(rot13Name).AddNumber(":", true), func(_ *rocksdb.ConfigOptions, id string) (any, error) {
		_, number, ok := strings.Cut(id, ":")
		if !ok {
			return NewROT13Cipher(defaultBlockSize), nil
		}
		size, err := strconv.Atoi(number)
		if err != nil {
			return nil, rocksdb.InvalidArgument("Bad block size", id)
		}
		return NewROT13Cipher(size), nil
	})
}
