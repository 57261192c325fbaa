// Port of options/offpeak_time_info.{h,cc}.

package options

import "github.com/rocksdb-go/rocksdb/util"

const (
	secondsPerDay    = 86400
	secondsPerMinute = 60
)

// OffpeakTimeInfo says how a moment lies to the daily off-peak hours.
type OffpeakTimeInfo struct {
	IsNowOffpeak                bool
	SecondsTillNextOffpeakStart int
}

// OffpeakTimeOption is the parsed daily_offpeak_time_utc. The zero value has
// no off-peak hours.
type OffpeakTimeOption struct {
	DailyOffpeakTimeUTC      string
	DailyOffpeakStartTimeUTC int // seconds since midnight
	DailyOffpeakEndTimeUTC   int // seconds since midnight
}

// NewOffpeakTimeOption parses "HH:MM-HH:MM"; text that does not parse gives no
// off-peak hours.
func NewOffpeakTimeOption(text string) OffpeakTimeOption {
	var o OffpeakTimeOption
	o.SetFromOffpeakTimeString(text)
	return o
}

// SetFromOffpeakTimeString parses text; what does not parse changes nothing.
func (o *OffpeakTimeOption) SetFromOffpeakTimeString(text string) {
	if text == "" {
		*o = OffpeakTimeOption{}
		return
	}
	if start, end, ok := util.TryParseTimeRangeString(text); ok {
		*o = OffpeakTimeOption{text, start, end}
	}
}

// GetOffpeakTimeInfo looks at a moment, in seconds since 1970.
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
