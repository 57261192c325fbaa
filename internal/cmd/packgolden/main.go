// No upstream twin: packs databases that C++ engines wrote into the archive that golden_test.go reads.

// Command packgolden packs a tree ENGINE/KIND/{db/*,scan.txt,scan.FAMILY.txt,command.txt}
// into a zstd-compressed tar: packgolden DIR OUT. scan.txt is what the engine's
// own `ldb scan --hex` prints of the default family, scan.FAMILY.txt of another
// one; command.txt is how db_bench made the database.
package main

import (
	"archive/tar"
	"fmt"
	"os"

	"github.com/klauspost/compress/zstd"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: packgolden DIR OUT")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "packgolden:", err)
		os.Exit(1)
	}
}

func pack(dir, out string) error {
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(f, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(32<<20))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	if err := t.AddFS(os.DirFS(dir)); err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}
