// Port of include/rocksdb/compression_type.h.

package rocksdb

// CompressionType names a compression algorithm. The numbers are stored after
// each block, in blob files and in the log.
type CompressionType uint8

// The built-in types. DisableCompressionOption is no algorithm; as
// BottommostCompression it means "not set".
const (
	NoCompression     CompressionType = 0x00
	SnappyCompression CompressionType = 0x01
	ZlibCompression   CompressionType = 0x02
	BZip2Compression  CompressionType = 0x03
	LZ4Compression    CompressionType = 0x04
	LZ4HCCompression  CompressionType = 0x05
	XpressCompression CompressionType = 0x06
	ZSTD              CompressionType = 0x07

	LastBuiltinCompression = ZSTD

	FirstCustomCompression = CustomCompression80
	LastCustomCompression  = CustomCompressionFE

	DisableCompressionOption CompressionType = 0xff
)

// DefaultCompressionLevel asks for the algorithm's own default level.
const DefaultCompressionLevel = 32767

// CompressionOptions tunes compression. The zero value is not the default; see
// DefaultCompressionOptions.
type CompressionOptions struct {
	// WindowBits is zlib's windowBits. Default -14.
	WindowBits int
	// Level is the algorithm's level (zlib, LZ4, LZ4HC, ZSTD); for LZ4 and
	// LZ4HC negative numbers are acceleration and positive ones LZ4HC levels.
	// Default DefaultCompressionLevel.
	Level int
	// Strategy is zlib's strategy. Default 0.
	Strategy int
	// MaxDictBytes is the greatest size of a file's dictionary; 0 (default)
	// compresses each block on its own.
	MaxDictBytes uint32
	// ZSTDMaxTrainBytes is how many bytes of samples train a dictionary; 0
	// (default) makes the samples themselves the dictionary.
	ZSTDMaxTrainBytes uint32
	// ParallelThreads above 1 compresses a file's blocks by that many workers.
	// Default 1.
	ParallelThreads uint32
	// Enabled says, in BottommostCompressionOpts, that the struct is to be
	// used at the last level. Default false.
	Enabled bool
	// MaxDictBufferBytes limits the data held back while a dictionary's samples
	// are collected; 0 (default) is the target file size.
	MaxDictBufferBytes uint64
	// UseZSTDDictTrainer selects zstd's trainer rather than its finalizer for
	// dictionaries. Default true.
	UseZSTDDictTrainer bool
	// MaxCompressedBytesPerKB is the worst accepted result: a block that does
	// not shrink to this many bytes per 1024 is stored as it is. Default 896.
	MaxCompressedBytesPerKB int
	// Checksum adds zstd's checksum to each frame. Default false.
	Checksum bool
}

// DefaultCompressionOptions gives the defaults.
func DefaultCompressionOptions() CompressionOptions {
	return CompressionOptions{
		WindowBits: -14, Level: DefaultCompressionLevel, ParallelThreads: 1,
		UseZSTDDictTrainer: true, MaxCompressedBytesPerKB: 1024 * 7 / 8,
	}
}

// SetMinRatio sets MaxCompressedBytesPerKB to the given uncompressed size over
// compressed size.
func (o *CompressionOptions) SetMinRatio(minRatio float64) {
	o.MaxCompressedBytesPerKB = int(1024.0/minRatio + 0.5)
}

// The types an application's CompressionManager may use.
const (
	CustomCompression80 CompressionType = 0x80
	CustomCompression81 CompressionType = 0x81
	CustomCompression82 CompressionType = 0x82
	CustomCompression83 CompressionType = 0x83
	CustomCompression84 CompressionType = 0x84
	CustomCompression85 CompressionType = 0x85
	CustomCompression86 CompressionType = 0x86
	CustomCompression87 CompressionType = 0x87
	CustomCompression88 CompressionType = 0x88
	CustomCompression89 CompressionType = 0x89
	CustomCompression8A CompressionType = 0x8A
	CustomCompression8B CompressionType = 0x8B
	CustomCompression8C CompressionType = 0x8C
	CustomCompression8D CompressionType = 0x8D
	CustomCompression8E CompressionType = 0x8E
	CustomCompression8F CompressionType = 0x8F
	CustomCompression90 CompressionType = 0x90
	CustomCompression91 CompressionType = 0x91
	CustomCompression92 CompressionType = 0x92
	CustomCompression93 CompressionType = 0x93
	CustomCompression94 CompressionType = 0x94
	CustomCompression95 CompressionType = 0x95
	CustomCompression96 CompressionType = 0x96
	CustomCompression97 CompressionType = 0x97
	CustomCompression98 CompressionType = 0x98
	CustomCompression99 CompressionType = 0x99
	CustomCompression9A CompressionType = 0x9A
	CustomCompression9B CompressionType = 0x9B
	CustomCompression9C CompressionType = 0x9C
	CustomCompression9D CompressionType = 0x9D
	CustomCompression9E CompressionType = 0x9E
	CustomCompression9F CompressionType = 0x9F
	CustomCompressionA0 CompressionType = 0xA0
	CustomCompressionA1 CompressionType = 0xA1
	CustomCompressionA2 CompressionType = 0xA2
	CustomCompressionA3 CompressionType = 0xA3
	CustomCompressionA4 CompressionType = 0xA4
	CustomCompressionA5 CompressionType = 0xA5
	CustomCompressionA6 CompressionType = 0xA6
	CustomCompressionA7 CompressionType = 0xA7
	CustomCompressionA8 CompressionType = 0xA8
	CustomCompressionA9 CompressionType = 0xA9
	CustomCompressionAA CompressionType = 0xAA
	CustomCompressionAB CompressionType = 0xAB
	CustomCompressionAC CompressionType = 0xAC
	CustomCompressionAD CompressionType = 0xAD
	CustomCompressionAE CompressionType = 0xAE
	CustomCompressionAF CompressionType = 0xAF
	CustomCompressionB0 CompressionType = 0xB0
	CustomCompressionB1 CompressionType = 0xB1
	CustomCompressionB2 CompressionType = 0xB2
	CustomCompressionB3 CompressionType = 0xB3
	CustomCompressionB4 CompressionType = 0xB4
	CustomCompressionB5 CompressionType = 0xB5
	CustomCompressionB6 CompressionType = 0xB6
	CustomCompressionB7 CompressionType = 0xB7
	CustomCompressionB8 CompressionType = 0xB8
	CustomCompressionB9 CompressionType = 0xB9
	CustomCompressionBA CompressionType = 0xBA
	CustomCompressionBB CompressionType = 0xBB
	CustomCompressionBC CompressionType = 0xBC
	CustomCompressionBD CompressionType = 0xBD
	CustomCompressionBE CompressionType = 0xBE
	CustomCompressionBF CompressionType = 0xBF
	CustomCompressionC0 CompressionType = 0xC0
	CustomCompressionC1 CompressionType = 0xC1
	CustomCompressionC2 CompressionType = 0xC2
	CustomCompressionC3 CompressionType = 0xC3
	CustomCompressionC4 CompressionType = 0xC4
	CustomCompressionC5 CompressionType = 0xC5
	CustomCompressionC6 CompressionType = 0xC6
	CustomCompressionC7 CompressionType = 0xC7
	CustomCompressionC8 CompressionType = 0xC8
	CustomCompressionC9 CompressionType = 0xC9
	CustomCompressionCA CompressionType = 0xCA
	CustomCompressionCB CompressionType = 0xCB
	CustomCompressionCC CompressionType = 0xCC
	CustomCompressionCD CompressionType = 0xCD
	CustomCompressionCE CompressionType = 0xCE
	CustomCompressionCF CompressionType = 0xCF
	CustomCompressionD0 CompressionType = 0xD0
	CustomCompressionD1 CompressionType = 0xD1
	CustomCompressionD2 CompressionType = 0xD2
	CustomCompressionD3 CompressionType = 0xD3
	CustomCompressionD4 CompressionType = 0xD4
	CustomCompressionD5 CompressionType = 0xD5
	CustomCompressionD6 CompressionType = 0xD6
	CustomCompressionD7 CompressionType = 0xD7
	CustomCompressionD8 CompressionType = 0xD8
	CustomCompressionD9 CompressionType = 0xD9
	CustomCompressionDA CompressionType = 0xDA
	CustomCompressionDB CompressionType = 0xDB
	CustomCompressionDC CompressionType = 0xDC
	CustomCompressionDD CompressionType = 0xDD
	CustomCompressionDE CompressionType = 0xDE
	CustomCompressionDF CompressionType = 0xDF
	CustomCompressionE0 CompressionType = 0xE0
	CustomCompressionE1 CompressionType = 0xE1
	CustomCompressionE2 CompressionType = 0xE2
	CustomCompressionE3 CompressionType = 0xE3
	CustomCompressionE4 CompressionType = 0xE4
	CustomCompressionE5 CompressionType = 0xE5
	CustomCompressionE6 CompressionType = 0xE6
	CustomCompressionE7 CompressionType = 0xE7
	CustomCompressionE8 CompressionType = 0xE8
	CustomCompressionE9 CompressionType = 0xE9
	CustomCompressionEA CompressionType = 0xEA
	CustomCompressionEB CompressionType = 0xEB
	CustomCompressionEC CompressionType = 0xEC
	CustomCompressionED CompressionType = 0xED
	CustomCompressionEE CompressionType = 0xEE
	CustomCompressionEF CompressionType = 0xEF
	CustomCompressionF0 CompressionType = 0xF0
	CustomCompressionF1 CompressionType = 0xF1
	CustomCompressionF2 CompressionType = 0xF2
	CustomCompressionF3 CompressionType = 0xF3
	CustomCompressionF4 CompressionType = 0xF4
	CustomCompressionF5 CompressionType = 0xF5
	CustomCompressionF6 CompressionType = 0xF6
	CustomCompressionF7 CompressionType = 0xF7
	CustomCompressionF8 CompressionType = 0xF8
	CustomCompressionF9 CompressionType = 0xF9
	CustomCompressionFA CompressionType = 0xFA
	CustomCompressionFB CompressionType = 0xFB
	CustomCompressionFC CompressionType = 0xFC
	CustomCompressionFD CompressionType = 0xFD
	CustomCompressionFE CompressionType = 0xFE
)
