// Port of options/offpeak_time_info.{h,cc}.

package options

import "github.com/rocksdb-go/rocksdb/util"

const (
	secondsPerMinute = 60
	secondsPerDay    = 24 * 60 * 60
)

// OffpeakTimeInfo says where a moment stands to the daily offpeak time.
type OffpeakTimeInfo struct {
	IsNowOffpeak                bool
	SecondsTillNextOffpeakStart int
}

// OffpeakTimeOption is DBOptions.DailyOffpeakTimeUTC taken apart. Times are
// seconds since midnight, UTC; both ends belong to the range.
type OffpeakTimeOption struct {
	DailyOffpeakTimeUTC      string
	DailyOffpeakStartTimeUTC int
	DailyOffpeakEndTimeUTC   int
}

// NewOffpeakTimeOption takes "HH:mm-HH:mm"; any other text is no offpeak time.
func NewOffpeakTimeOption(text string) OffpeakTimeOption {
	var o OffpeakTimeOption
	o.SetFromOffpeakTimeString(text)
	return o
}

// SetFromOffpeakTimeString takes "HH:mm-HH:mm" or ""; any other text changes
// nothing.
func (o *OffpeakTimeOption) SetFromOffpeakTimeString(text string) {
	if start, end, ok := util.TryParseTimeRangeString(text); ok {
		*o = OffpeakTimeOption{text, start, end}
	}
}

// GetOffpeakTimeInfo looks at a moment in seconds since the Unix epoch.
func (o *OffpeakTimeOption) GetOffpeakTimeInfo(now int64) OffpeakTimeInfo {
	start, end := o.DailyOffpeakStartTimeUTC, o.DailyOffpeakEndTimeUTC
	if start == end {
		return OffpeakTimeInfo{}
	}
	second := int(now % secondsPerDay)
	minute := second / secondsPerMinute * secondsPerMinute
	info := OffpeakTimeInfo{IsNowOffpeak: start <= minute && minute <= end}
	if start > end { // over midnight
		info.IsNowOffpeak = start <= minute || minute <= end
	}
	info.SecondsTillNextOffpeakStart = start - second
	if second >= start {
		info.SecondsTillNextOffpeakStart += secondsPerDay
	}
	return info
}
