// No upstream twin: parts of keys as bytes, filters of any bytes, and the property
// as v11.8.1 writes it.

package experimental

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestFilterInput_Bytes(t *testing.T) {
	inputs := []FilterInput{SelectWholeKey()}
	for i := range uint8(16) {
		inputs = append(inputs, SelectKeySegment(i))
	}
	for to := range uint8(6) {
		for from := range to {
			inputs = append(inputs, SelectKeySegmentRange(from, to))
		}
	}
	inputs = append(inputs, SelectKeySegmentRange(0, 6))
	seen := map[byte]bool{}
	for _, in := range inputs {
		b, ok := in.encode()
		if got, decoded := decodeFilterInput(b); !ok || !decoded || got != in || seen[b] {
			t.Errorf("%+v is byte %#x, which is %+v", in, b, got)
		}
		seen[b] = true
	}
	if len(seen) != 33 {
		t.Errorf("%d bytes", len(seen))
	}
	for _, in := range []FilterInput{SelectKeySegment(16), SelectKeySegmentRange(2, 1), SelectKeySegmentRange(1, 6), SelectKeySegmentRange(0, 7)} {
		if _, err := NewBytewiseMinMaxSQFC(in, AllCategories); !errors.Is(err, rocksdb.ErrInvalidArgument) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

// collected is the property of a table of the keys.
func collected(t *testing.T, f *Factory, keys ...string) string {
	t.Helper()
	c := f.CreateTablePropertiesCollector(rocksdb.TablePropertiesCollectorFactoryContext{})
	for _, k := range keys {
		if err := c.AddUserKey([]byte(k), nil, rocksdb.EntryPut, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	p := rocksdb.UserCollectedProperties{}
	if err := c.Finish(p); err != nil {
		t.Fatal(err)
	}
	return p[propertyName]
}

func newFactory(t *testing.T, configs SstQueryFilterConfigs) *Factory {
	t.Helper()
	m, err := NewSstQueryFilterConfigsManager(VersionConfigs{1, []NamedConfigs{{"n", configs}}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.NewFactory("n", 1)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newMinMaxFactory(t *testing.T, categories KeyCategorySet, inputs ...FilterInput) *Factory {
	t.Helper()
	configs := SstQueryFilterConfigs{}
	for _, in := range inputs {
		c, err := NewBytewiseMinMaxSQFC(in, categories)
		if err != nil {
			t.Fatal(err)
		}
		configs.Filters = append(configs.Filters, c)
	}
	var err error
	if configs.Extractor, err = NewCappedKeySegmentsExtractor(1, 2); err != nil {
		t.Fatal(err)
	}
	return newFactory(t, configs)
}

func TestSstQueryFilter_Property(t *testing.T) {
	const id = "1e" + "436170706564 4b65795365676d656e7473457874726163746f72 3162 3262"
	for _, c := range []struct {
		f    *Factory
		want string
	}{
		{newMinMaxFactory(t, AllCategories, SelectKeySegment(1)), "01 01 01" + id + "01 01 10 01 11 02 6263 6465"},
		{newMinMaxFactory(t, NewKeyCategorySet(DefaultCategory, 2), SelectKeySegment(0), SelectWholeKey()),
			"01 01 01" + id + "01 02 09 02 05 01 10 00 10 01 61 78 02 05 01 10 00 00 01 61 7864 65"},
		{newMinMaxFactory(t, NewKeyCategorySet(2), SelectKeySegment(1)), ""},
	} {
		want := ""
		for _, r := range c.want {
			if r != ' ' {
				want += string(r)
			}
		}
		if got := hex.EncodeToString([]byte(collected(t, c.f, "a", "abc", "xde"))); got != want {
			t.Errorf("property %s, want %s", got, want)
		}
	}
}

// Whatever the bytes, nothing bad happens; what cannot be read may match.
func FuzzTableFilter(f *testing.F) {
	t := &testing.T{}
	for _, factory := range []*Factory{newMinMaxFactory(t, AllCategories, SelectKeySegment(1)),
		newMinMaxFactory(t, NewKeyCategorySet(DefaultCategory), SelectKeySegment(0), SelectWholeKey(), SelectKeySegmentRange(0, 1))} {
		f.Add([]byte(collected(t, factory, "a", "abc", "xde")), []byte("abb"), []byte("abd"))
	}
	factory := newMinMaxFactory(t, AllCategories, SelectKeySegment(1))
	f.Fuzz(func(t *testing.T, property, lower, upper []byte) {
		p := &rocksdb.TableProperties{UserCollectedProperties: rocksdb.UserCollectedProperties{propertyName: string(property)}}
		match := factory.GetTableFilterForRangeQuery(lower, upper)(p)
		if len(property) < 8 && !match {
			t.Errorf("%x cannot be a filter", property)
		}
	})
}
