// No upstream twin: the bzip2 encoder against the standard library's decoder.

package compression

import (
	"bytes"
	"compress/bzip2"
	"io"
	"math/rand/v2"
	"testing"
)

func TestBZip2Encoder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n, letters int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.IntN(letters))
		}
		return b
	}
	cases := [][]byte{
		{}, {7}, []byte("ab"), bytes.Repeat([]byte{0}, 3), bytes.Repeat([]byte{255}, 4), bytes.Repeat([]byte{'x'}, 258),
		bytes.Repeat([]byte{'x'}, 300000), bytes.Repeat([]byte("ab"), 5000), bytes.Repeat([]byte("abcabd"), 50000),
		random(1, 256), random(1000, 2), random(5000, 256), random(250000, 256), random(250000, 3),
	}
	for n := range 300 {
		cases = append(cases, random(n, 1+n%17))
	}
	skewed := []byte{} // codes of all lengths
	for i := range 30 {
		skewed = append(skewed, bytes.Repeat([]byte{byte(i)}, 1<<min(i, 16))...)
	}
	r.Shuffle(len(skewed), func(i, j int) { skewed[i], skewed[j] = skewed[j], skewed[i] })
	cases = append(cases, skewed)
	var e bzip2Encoder
	for _, src := range cases {
		dst := make([]byte, len(src)*2+1000)
		n, ok := e.encode(dst, src)
		if !ok {
			t.Fatalf("%d bytes: no place in %d", len(src), len(dst))
		}
		got, err := io.ReadAll(bzip2.NewReader(bytes.NewReader(dst[:n])))
		if err != nil || !bytes.Equal(got, src) {
			t.Fatalf("%d bytes: %d came back, %v", len(src), len(got), err)
		}
		for _, short := range []int{0, 1, 13, n / 2, n - 1} {
			if m, ok := e.encode(dst[:short], src); ok || m > short {
				t.Fatalf("%d bytes are %d of %d at most", len(src), m, short)
			}
		}
	}
}

// TestBZip2Encoder_Ratio: about what C's bzip2 makes of the same.
func TestBZip2Encoder_Ratio(t *testing.T) {
	for _, c := range []struct{ n, most int }{{500, 330}, {4096, 2080}, {100000, 38500}} {
		src := sample(c.n, 3)
		var e bzip2Encoder
		n, ok := e.encode(make([]byte, 2*c.n), src)
		if t.Logf("%d bytes of %d", n, c.n); !ok || n > c.most {
			t.Errorf("%d bytes of %d, at most %d", n, c.n, c.most)
		}
	}
}
