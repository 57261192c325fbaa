// Port of the parse and serialize functions beside the option tables of
// options/{db_options,cf_options}.cc and of the CreateFromString functions of
// the plug-in classes.

package options

import (
	"strings"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/util"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// The codecs below are values of struct types, not structs with functions in
// them: the tables are package variables, and a function that leads back to a
// table would be an initialization cycle.
var (
	comparatorCodec = &customCodec[rocksdb.Comparator]{
		kind: registry.KindComparator, nilName: util.BytewiseComparatorName}
	memtableCodec = &customCodec[rocksdb.MemTableRepFactory]{
		kind: registry.KindMemTableRepFactory, nilName: "SkipListFactory"}
	collectorCodec = &customCodec[rocksdb.TablePropertiesCollectorFactory]{
		kind: registry.KindTablePropertiesCollectorFactory}
	flushPolicyCodec = &flushPolicyParser{customCodec[rocksdb.FlushBlockPolicyFactory]{
		kind: registry.KindFlushBlockPolicyFactory, nilName: rocksdb.FlushBlockBySizePolicyFactoryName}}
	filterPolicyCodec = &customCodec[rocksdb.FilterPolicy]{kind: registry.KindFilterPolicy}
	cacheCodec        = &cacheParser{customCodec[rocksdb.Cache]{kind: registry.KindCache}}
	tableFactoryCodec = &tableFactoryParser{customCodec[rocksdb.TableFactory]{
		kind: registry.KindTableFactory, nilName: rocksdb.BlockBasedTableName}}
)

// flushPolicyParser takes an empty value for the default policy.
type flushPolicyParser struct {
	customCodec[rocksdb.FlushBlockPolicyFactory]
}

func (c *flushPolicyParser) Parse(cfg *rocksdb.ConfigOptions, name, value string, addr any) error {
	if value == "" {
		*addr.(*rocksdb.FlushBlockPolicyFactory) = nil
		return nil
	}
	return c.customCodec.Parse(cfg, name, value, addr)
}

// cacheParser hands the whole value to the factories of caches: a size
// ("8M"), the options of an LRU cache ("capacity=8M;…") or an ID with its
// scheme ("lru_cache://…").
type cacheParser struct{ customCodec[rocksdb.Cache] }

func (c *cacheParser) Parse(cfg *rocksdb.ConfigOptions, name, value string, addr any) error {
	if strings.HasPrefix(value, "null") {
		*addr.(*rocksdb.Cache) = nil
		return nil
	}
	if strings.Contains(value, "://") {
		return c.customCodec.Parse(cfg, name, value, addr)
	}
	cache, err := registry.NewObject[rocksdb.Cache](cfg, c.kind, StripOuterBraces(value))
	if err != nil {
		if cfg.IgnoreUnsupportedOptions && rocksdb.IsNotSupported(err) {
			return nil
		}
		return err
	}
	*addr.(*rocksdb.Cache) = cache
	return nil
}

// tableFactoryParser changes a column family's table format. The object there
// is may be in use, so a change goes to a clone.
type tableFactoryParser struct {
	customCodec[rocksdb.TableFactory]
}

func (c *tableFactoryParser) Parse(cfg *rocksdb.ConfigOptions, name, value string, addr any) error {
	p := addr.(*rocksdb.TableFactory)
	if *p != nil && !strings.HasSuffix(name, "table_factory") {
		mutableOnly := *cfg
		mutableOnly.MutableOptionsOnly = true
		if ConfigureObjectOption(&mutableOnly, *p, name, value) == nil {
			return nil
		}
	}
	var next rocksdb.TableFactory
	var err error
	switch name {
	case "block_based_table_factory":
		next, err = c.modify(cfg, *p, rocksdb.BlockBasedTableName, name, value)
	case "plain_table_factory":
		next, err = c.modify(cfg, *p, rocksdb.PlainTableName, name, value)
	case "table_factory", idPropName:
		// The object there is gives way even to one that cannot be made.
		next, set, err := loadObject(cfg, c.kind, value, *p)
		if err == nil && !set {
			id, _ := optionsMap(value, "")
			next = missingTableFactory{id}
		}
		if err == nil {
			*p = next
		}
		return err
	default:
		if *p == nil {
			if next, err = c.create(cfg, c.nilName); err != nil {
				return rocksdb.NotFound("Unable to instantiate a table factory from option: ", name)
			}
		} else {
			next = (*p).Clone()
		}
		err = ConfigureObjectOption(cfg, next, name, value)
	}
	if err == nil {
		*p = next
	}
	return err
}

func (c *tableFactoryParser) create(cfg *rocksdb.ConfigOptions, id string) (rocksdb.TableFactory, error) {
	return registry.NewObject[rocksdb.TableFactory](cfg, c.kind, id)
}

func (c *tableFactoryParser) modify(cfg *rocksdb.ConfigOptions, current rocksdb.TableFactory, format, name, value string) (rocksdb.TableFactory, error) {
	var next rocksdb.TableFactory
	if current == nil {
		var err error
		if next, err = c.create(cfg, format); err != nil {
			return nil, err
		}
	} else {
		if current.Name() != format {
			return nil, rocksdb.InvalidArgument("Cannot modify " + current.Name() + " as " + name)
		}
		next = current.Clone()
	}
	return next, ConfigureObjectFromString(cfg, next, value)
}

// rateLimiterCodec makes a rate limiter of a number of bytes a second.
type rateLimiterCodec struct{ unsupportedCodec }

func (rateLimiterCodec) Parse(cfg *rocksdb.ConfigOptions, _, value string, addr any) error {
	if _, err := util.ParseUint64(value); err != nil {
		return err
	}
	l, err := registry.NewObject[rocksdb.RateLimiter](cfg, registry.KindRateLimiter, value)
	if err != nil {
		return err
	}
	*addr.(*rocksdb.RateLimiter) = l
	return nil
}

// listenersCodec is the codec of DBOptions.Listeners: those that have a name.
type listenersCodec struct{}

func (listenersCodec) Parse(cfg *rocksdb.ConfigOptions, _, value string, addr any) error {
	embedded := *cfg
	embedded.IgnoreUnsupportedOptions = true
	var out []rocksdb.EventListener
	stripped := StripOuterBraces(value)
	for start, end := 0, 0; start < len(stripped) && end >= 0; start = end + 1 {
		var token string
		var err error
		if token, end, err = NextToken(stripped, vectorSeparator, start); err != nil {
			return err
		}
		if token != "" {
			l, err := CreateFromString[rocksdb.EventListener](&embedded, registry.KindEventListener, token)
			if err != nil {
				return err
			}
			if l != nil {
				out = append(out, l)
			}
		}
		if end < 0 {
			break
		}
	}
	*addr.(*[]rocksdb.EventListener) = out
	return nil
}

func (listenersCodec) Serialize(cfg *rocksdb.ConfigOptions, _ string, addr any) (string, error) {
	embedded := *cfg
	embedded.Delimiter = ";"
	var parts []string
	for _, l := range *addr.(*[]rocksdb.EventListener) {
		if objectID(l) == "" {
			continue
		}
		s, err := ObjectToString(&embedded, l)
		if err != nil {
			return "", err
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return "", nil
	}
	return "{" + strings.Join(parts, ":") + "}", nil
}

func (listenersCodec) Equal(*rocksdb.ConfigOptions, string, any, any) (bool, string) {
	return true, ""
}

// unsupportedCodec is the codec of objects that strings cannot name.
type unsupportedCodec struct{}

func (unsupportedCodec) Parse(_ *rocksdb.ConfigOptions, name, _ string, _ any) error {
	return rocksdb.NotSupported("Deserializing the option " + name + " is not supported")
}

func (unsupportedCodec) Serialize(_ *rocksdb.ConfigOptions, name string, _ any) (string, error) {
	return "", rocksdb.NotSupported("Cannot serialize option: ", name)
}

func (unsupportedCodec) Equal(*rocksdb.ConfigOptions, string, any, any) (bool, string) {
	return true, ""
}

func compressionCodec(name string) *structCodec {
	return &structCodec{name: name, table: compressionTable, legacy: parseCompressionOptions}
}

// parseCompressionOptions reads the old form, fields separated by ':':
// window_bits:level:strategy[:max_dict_bytes[:zstd_max_train_bytes
// [:parallel_threads][:enabled[:max_dict_buffer_bytes[:use_zstd_dict_trainer]]]]].
// A sixth field that is the last is enabled.
func parseCompressionOptions(name, value string, addr any) error {
	bad := rocksdb.InvalidArgument("unable to parse the specified CF option " + name)
	fields := strings.Split(value, ":")
	if fields[len(fields)-1] == "" && len(fields) > 1 {
		fields = fields[:len(fields)-1]
	}
	if len(fields) < 3 || len(fields) > 9 {
		return bad
	}
	o := *addr.(*rocksdb.CompressionOptions)
	for i, f := range fields {
		var err error
		var n int
		switch {
		case i <= 5 && !(i == 5 && len(fields) == 6):
			n, err = util.ParseInt(f)
			switch i {
			case 0:
				o.WindowBits = n
			case 1:
				o.Level = n
			case 2:
				o.Strategy = n
			case 3:
				o.MaxDictBytes = uint32(n)
			case 4:
				o.ZSTDMaxTrainBytes = uint32(n)
			case 5:
				o.ParallelThreads = uint32(n)
			}
		case i == 5 || i == 6:
			o.Enabled, err = util.ParseBoolean(name, f)
		case i == 7:
			o.MaxDictBufferBytes, err = util.ParseUint64(f)
		default:
			o.UseZSTDDictTrainer, err = util.ParseBoolean(name, f)
		}
		if err != nil {
			return err
		}
	}
	*addr.(*rocksdb.CompressionOptions) = o
	return nil
}

// parseFIFOSize reads the old form of FIFO options, a size alone.
func parseFIFOSize(_, value string, addr any) error {
	v, err := util.ParseUint64(value)
	if err == nil {
		addr.(*rocksdb.CompactionOptionsFIFO).MaxTableFilesSize = v
	}
	return err
}
