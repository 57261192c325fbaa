// Port of monitoring/iostats_context_test.cc.

package monitoring

import (
	"strings"
	"testing"

	"github.com/rocksdb-go/rocksdb/include/rocksdb"
)

func TestIOStatsContextTest_ToString(t *testing.T) {
	var c rocksdb.IOStatsContext
	c.Reset()
	c.BytesRead = 12345
	zeroIncluded := c.ToString(false)
	if !strings.Contains(zeroIncluded, "= 0") || !strings.Contains(zeroIncluded, "= 12345") {
		t.Errorf("with zeros: %s", zeroIncluded)
	}
	zeroExcluded := c.ToString(true)
	if strings.Contains(zeroExcluded, "= 0") || !strings.Contains(zeroExcluded, "= 12345") {
		t.Errorf("without zeros: %s", zeroExcluded)
	}
	checkEqual(t, "text", zeroExcluded, "thread_pool_id = 4, bytes_read = 12345")
}

func TestIOStatsContext_MergeAndNil(t *testing.T) {
	var none *rocksdb.IOStatsContext
	none.AddBytesRead(1)
	none.AddBytesWritten(1)
	checkEqual(t, "nil enabled", none.Enabled(rocksdb.EnableCount), false)

	a := rocksdb.IOStatsContext{Level: rocksdb.EnableTime}
	a.AddBytesRead(3)
	a.FileIOStatsByTemperature.IceFileReadCount = 2
	b := rocksdb.IOStatsContext{DisableIOStats: true}
	b.AddBytesRead(5)
	checkEqual(t, "disabled", b.BytesRead, 0)
	checkEqual(t, "disabled", b.Enabled(rocksdb.EnableCount), false)
	b.Merge(&a)
	b.Merge(&a)
	checkEqual(t, "bytes", b.BytesRead, 6)
	checkEqual(t, "reads", b.FileIOStatsByTemperature.IceFileReadCount, 4)
	a.Reset()
	checkEqual(t, "level", a.Level, rocksdb.EnableTime)
	checkEqual(t, "bytes", a.BytesRead, 0)
}
