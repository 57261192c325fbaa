// Port of utilities/ttl/db_ttl_impl.{h,cc}, the filter, its factory and the
// merge operator. Differs: a value that is too short for a time is kept.

package ttl

import (
	"sync"
	"sync/atomic"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
	"github.com/rocksdb-go/rocksdb/logging"
	"github.com/rocksdb-go/rocksdb/options"
	"github.com/rocksdb-go/rocksdb/util"
	compactionfilters "github.com/rocksdb-go/rocksdb/utilities/compaction_filters"
	"github.com/rocksdb-go/rocksdb/utilities/registry"
)

// The names that OPTIONS files have.
const (
	CompactionFilterName        = "TtlCompactionFilter"
	CompactionFilterFactoryName = "TtlCompactionFilterFactory"
	MergeOperatorName           = "TtlMergeOperator"
)

// CompactionFilter drops values that are too old, and asks a user's filter about
// the rest, without their times.
type CompactionFilter struct {
	compactionfilters.LayeredCompactionFilterBase
	ttl   int // seconds
	clock rocksdb.SystemClock
}

var (
	compactionFilterTable = options.NewTable[CompactionFilter]("TTL",
		options.F("ttl", func(f *CompactionFilter) any { return &f.ttl }, 0))
	userFilterTable = options.NewTable[CompactionFilter]("UserFilter",
		options.F("user_filter", func(f *CompactionFilter) any { return &f.User }, options.AllowNull).
			With(options.ByName, options.CustomCodec[rocksdb.CompactionFilter](registry.KindCompactionFilter, "")))
)

// NewCompactionFilter makes a filter; user, or else fromFactory, comes behind
// it. Both may be nil.
func NewCompactionFilter(ttl int32, clock rocksdb.SystemClock, user, fromFactory rocksdb.CompactionFilter) *CompactionFilter {
	return &CompactionFilter{LayeredCompactionFilterBase: compactionfilters.NewLayeredCompactionFilterBase(user, fromFactory), ttl: int(ttl), clock: clock}
}

// Name is CompactionFilterName.
func (*CompactionFilter) Name() string { return CompactionFilterName }

// IsInstanceOf knows a nickname, too.
func (*CompactionFilter) IsInstanceOf(name string) bool {
	return name == CompactionFilterName || name == "Delete By TTL"
}

// OptionSets has the ttl and the user's filter.
func (f *CompactionFilter) OptionSets() []options.OptionSet {
	return []options.OptionSet{{Table: compactionFilterTable, Ptr: f}, {Table: userFilterTable, Ptr: f}}
}

// IgnoreSnapshots is true.
func (*CompactionFilter) IgnoreSnapshots() bool { return true }

// FilterV3 decides about plain values; all else is kept.
func (f *CompactionFilter) FilterV3(level int, key []byte, vt rocksdb.CompactionFilterValueType, existing []byte) (d rocksdb.CompactionFilterDecision, newValue, skipUntil []byte) {
	if vt != rocksdb.CompactionFilterValue {
		return rocksdb.FilterKeep, nil, nil
	}
	if IsStale(existing, int32(f.ttl), f.clock) {
		return rocksdb.FilterRemove, nil, nil
	}
	if f.User == nil || len(existing) < TimestampLength {
		return rocksdb.FilterKeep, nil, nil
	}
	at := len(existing) - TimestampLength
	d, newValue, skipUntil = f.User.FilterV3(level, key, vt, existing[:at:at])
	if d == rocksdb.FilterChangeValue {
		newValue = append(newValue[:len(newValue):len(newValue)], existing[at:]...)
	}
	return d, newValue, skipUntil
}

// PrepareOptions gives a filter made by name the clock of cfg's environment.
func (f *CompactionFilter) PrepareOptions(cfg *rocksdb.ConfigOptions) error {
	f.clock = orClock(f.clock, cfg)
	return nil
}

// ValidateOptions refuses a filter without a clock.
func (f *CompactionFilter) ValidateOptions(*rocksdb.DBOptions, *rocksdb.ColumnFamilyOptions) error {
	return needClock(f.clock, CompactionFilterName)
}

func orClock(c rocksdb.SystemClock, cfg *rocksdb.ConfigOptions) rocksdb.SystemClock {
	if c == nil && cfg.Env != nil {
		c = cfg.Env.GetSystemClock()
	}
	if c == nil {
		c = defaultClock()
	}
	return c
}

func needClock(c rocksdb.SystemClock, who string) error {
	if c == nil {
		return rocksdb.InvalidArgument("SystemClock required by " + who)
	}
	return nil
}

// CompactionFilterFactory makes the filters of a family.
type CompactionFilterFactory struct {
	ttl   atomic.Int32 // seconds
	set   int          // what the option sets, until PrepareOptions
	clock rocksdb.SystemClock
	user  rocksdb.CompactionFilterFactory
}

var (
	userFactoryTable = options.NewTable[CompactionFilterFactory]("UserOptions",
		options.F("user_filter_factory", func(f *CompactionFilterFactory) any { return &f.user }, 0).
			With(options.ByNameAllowFromNull, options.CustomCodec[rocksdb.CompactionFilterFactory](registry.KindCompactionFilterFactory, "")))
	factoryTable = options.NewTable[CompactionFilterFactory]("TTL",
		options.F("ttl", func(f *CompactionFilterFactory) any { return &f.set }, 0))
)

// NewCompactionFilterFactory makes a factory; user's filters, if it is not nil,
// come behind its own.
func NewCompactionFilterFactory(ttl int32, clock rocksdb.SystemClock, user rocksdb.CompactionFilterFactory) *CompactionFilterFactory {
	f := &CompactionFilterFactory{clock: clock, user: user}
	f.SetTTL(ttl)
	return f
}

// Name is CompactionFilterFactoryName.
func (*CompactionFilterFactory) Name() string { return CompactionFilterFactoryName }

// OptionSets has the ttl and the user's factory.
func (f *CompactionFilterFactory) OptionSets() []options.OptionSet {
	return []options.OptionSet{{Table: userFactoryTable, Ptr: f}, {Table: factoryTable, Ptr: f}}
}

// Inner is the user's factory.
func (f *CompactionFilterFactory) Inner() rocksdb.Customizable {
	if f.user == nil {
		return nil
	}
	return f.user
}

// SetTTL changes the ttl of filters that are made from now on.
func (f *CompactionFilterFactory) SetTTL(ttl int32) {
	f.set = int(ttl)
	f.ttl.Store(ttl)
}

// GetTTL is the ttl in seconds.
func (f *CompactionFilterFactory) GetTTL() int32 { return f.ttl.Load() }

// ShouldFilterTableFileCreation is true of compactions.
func (*CompactionFilterFactory) ShouldFilterTableFileCreation(reason rocksdb.TableFileCreationReason) bool {
	return reason == rocksdb.TableFileCreationReasonCompaction
}

// CreateCompactionFilter makes a filter.
func (f *CompactionFilterFactory) CreateCompactionFilter(ctx *rocksdb.CompactionFilterContext) rocksdb.CompactionFilter {
	var user rocksdb.CompactionFilter
	if f.user != nil {
		user = f.user.CreateCompactionFilter(ctx)
	}
	return NewCompactionFilter(f.ttl.Load(), f.clock, nil, user)
}

// PrepareOptions is CompactionFilter's.
func (f *CompactionFilterFactory) PrepareOptions(cfg *rocksdb.ConfigOptions) error {
	f.clock = orClock(f.clock, cfg)
	f.ttl.Store(int32(f.set))
	return nil
}

// ValidateOptions refuses a factory without a clock.
func (f *CompactionFilterFactory) ValidateOptions(*rocksdb.DBOptions, *rocksdb.ColumnFamilyOptions) error {
	return needClock(f.clock, CompactionFilterFactoryName)
}

// MergeOperator merges by a user's operator, without times, and gives the result
// the present one.
type MergeOperator struct {
	rocksdb.MergeOperatorBase
	user  rocksdb.MergeOperator
	clock rocksdb.SystemClock
}

var mergeOperatorTable = options.NewTable[MergeOperator]("TtlMergeOptions",
	options.F("user_operator", func(m *MergeOperator) any { return &m.user }, 0).
		With(options.ByNameAllowNull, options.CustomCodec[rocksdb.MergeOperator](registry.KindMergeOperator, "")))

// NewMergeOperator makes an operator above user.
func NewMergeOperator(user rocksdb.MergeOperator, clock rocksdb.SystemClock) *MergeOperator {
	return &MergeOperator{user: user, clock: clock}
}

// Name is MergeOperatorName.
func (*MergeOperator) Name() string { return MergeOperatorName }

// IsInstanceOf knows a nickname, too.
func (*MergeOperator) IsInstanceOf(name string) bool {
	return name == MergeOperatorName || name == "Merge By TTL"
}

// OptionSets has the user's operator.
func (m *MergeOperator) OptionSets() []options.OptionSet {
	return []options.OptionSet{{Table: mergeOperatorTable, Ptr: m}}
}

// Inner is the user's operator.
func (m *MergeOperator) Inner() rocksdb.Customizable {
	if m.user == nil {
		return nil
	}
	return m.user
}

// withoutTimes cuts the times off; ok is false where one is missing.
func withoutTimes(values [][]byte) (cut [][]byte, ok bool) {
	cut = make([][]byte, len(values))
	for i, v := range values {
		if len(v) < TimestampLength {
			return nil, false
		}
		cut[i] = v[:len(v)-TimestampLength]
	}
	return cut, true
}

// appendTime appends the present time to a result.
func (m *MergeOperator) appendTime(dst []byte, log rocksdb.Logger) ([]byte, bool) {
	now, err := m.clock.GetCurrentTime()
	if err != nil {
		logging.Error(log, "Error: Could not get current time to be attached internally to the new value.")
		return dst, false
	}
	return util.AppendFixed32(dst, uint32(int32(now))), true
}

// FullMergeV2 merges operands into a value.
func (m *MergeOperator) FullMergeV2(in *rocksdb.MergeOperationInput, out *rocksdb.MergeOperationOutput) bool {
	inner := *in
	if in.ExistingValue != nil {
		if len(in.ExistingValue) < TimestampLength {
			logging.Error(in.Logger, "Error: Could not remove timestamp from existing value.")
			return false
		}
		inner.ExistingValue = in.ExistingValue[:len(in.ExistingValue)-TimestampLength]
	}
	var ok bool
	if inner.Operands, ok = withoutTimes(in.Operands); !ok {
		logging.Error(in.Logger, "Error: Could not remove timestamp from operand value.")
		return false
	}
	if !m.user.FullMergeV2(&inner, out) {
		return false
	}
	if out.ExistingOperand != nil {
		out.NewValue = append(out.NewValue[:0], out.ExistingOperand...)
		out.ExistingOperand = nil
	}
	out.NewValue, ok = m.appendTime(out.NewValue, in.Logger)
	return ok
}

// PartialMergeMulti joins operands.
func (m *MergeOperator) PartialMergeMulti(key []byte, operands [][]byte, dst []byte, logger rocksdb.Logger) ([]byte, bool) {
	cut, ok := withoutTimes(operands)
	if !ok {
		logging.Error(logger, "Error: Could not remove timestamp from value.")
		return dst, false
	}
	if dst, ok = m.user.PartialMergeMulti(key, cut, dst, logger); !ok {
		return dst, false
	}
	return m.appendTime(dst, logger)
}

// PrepareOptions is CompactionFilter's.
func (m *MergeOperator) PrepareOptions(cfg *rocksdb.ConfigOptions) error {
	m.clock = orClock(m.clock, cfg)
	return nil
}

// ValidateOptions refuses an operator without a user's one, or without a clock.
func (m *MergeOperator) ValidateOptions(*rocksdb.DBOptions, *rocksdb.ColumnFamilyOptions) error {
	if m.user == nil {
		return rocksdb.InvalidArgument("UserMergeOperator required by TtlMergeOperator")
	}
	return needClock(m.clock, MergeOperatorName)
}

// Register registers the three in l and gives their number.
func Register(l *registry.Library) int {
	l.AddFactory(registry.KindMergeOperator, MergeOperatorName, func(*rocksdb.ConfigOptions, string) (any, error) {
		return NewMergeOperator(nil, nil), nil
	})
	l.AddFactory(registry.KindCompactionFilterFactory, CompactionFilterFactoryName, func(*rocksdb.ConfigOptions, string) (any, error) {
		return NewCompactionFilterFactory(0, nil, nil), nil
	})
	l.AddFactory(registry.KindCompactionFilter, CompactionFilterName, func(*rocksdb.ConfigOptions, string) (any, error) {
		return NewCompactionFilter(0, nil, nil, nil), nil
	})
	return 3
}

var registerOnce sync.Once

// RegisterDefault registers them in the process's registry; further calls do
// nothing.
func RegisterDefault() { registerOnce.Do(func() { Register(registry.DefaultLibrary()) }) }
