// Port of tools/db_bench_tool.cc (GetMergeOperands, and ReadRandom of operands).
// Differs: --num of 0 is refused, as for readrandom.

package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	rocksdb "github.com/rocksdb-go/rocksdb/include/rocksdb"
)

// readRandomOperands reads the merge operands of keys drawn at random.
func (b *benchmark) readRandomOperands(t *threadState) error {
	values := make([]rocksdb.PinnableSlice, 8) // more where a key has more
	return b.readEach(t, "Get", func(cf *ColumnFamily, key []byte) (size int, err error) {
		count, err := cf.GetMergeOperands(&t.ro, key, values, nil)
		if errors.Is(err, rocksdb.ErrIncomplete) {
			values = make([]rocksdb.PinnableSlice, count)
			count, err = cf.GetMergeOperands(&t.ro, key, values, nil)
		}
		if err != nil {
			return 0, err
		}
		for i := range values[:count] {
			size += values[i].Size()
			values[i].Release()
		}
		return size, nil
	})
}

// sortedNumbers are the numbers of a list, those that are none left out.
func sortedNumbers(list []byte) (n []int) {
	for _, s := range strings.Split(string(list), ",") {
		if i, err := strconv.Atoi(s); err == nil {
			n = append(n, i)
		}
	}
	return n
}

// getMergeOperands compares the search of a number in a merged list with that in
// the sorted lists it is merged of (--merge_operator=sortlist).
func (b *benchmark) getMergeOperands(t *threadState) error {
	const values, listSize, lookFor = 100000, 100, 1
	db := b.selectDB(t.rand).db
	key := []byte("my_key")
	var list []string
	for i := 1; i < values; i++ {
		if i%listSize != 0 {
			list = append(list, strconv.Itoa(i))
			continue
		}
		if err := db.Merge(nil, key, []byte(strings.Join(list, ","))); err != nil {
			return t.failed("put or merge error", err)
		}
		list = list[:0]
	}
	number := map[bool]int{true: 1}

	b.out.printf("--- Get API call --- \n")
	var v rocksdb.PinnableSlice
	start := time.Now()
	if err := db.GetInto(nil, key, &v); err != nil {
		return t.failed("Get returned an error", err)
	}
	_, found := slices.BinarySearch(sortedNumbers(v.Data()), lookFor)
	b.out.printf("Found key? %d\n", number[found])
	b.out.printf("Get: %v seconds\n", time.Since(start).Seconds())
	b.out.printf("Sample data from Get API call: %s\n", v.Data()[:min(10, v.Size())])
	v.Release()

	b.out.printf("--- GetMergeOperands API --- \n")
	operands := make([]rocksdb.PinnableSlice, values/listSize+1)
	start = time.Now()
	n, err := db.GetMergeOperands(nil, key, operands, nil)
	if err != nil {
		return t.failed("GetMergeOperands returned an error", err)
	}
	found = false
	for i := range operands[:n] {
		if _, found = slices.BinarySearch(sortedNumbers(operands[i].Data()), lookFor); found {
			break
		}
	}
	b.out.printf("Found key? %d\n", number[found])
	b.out.printf("Get Merge operands: %v seconds \n", time.Since(start).Seconds())
	b.out.printf("Sample data from GetMergeOperands API call: ")
	for i := range operands[:min(n, 4)] {
		b.out.printf("List: %d : %s\n", i, operands[i].Data())
	}
	for i := range operands[:n] {
		operands[i].Release()
	}
	return nil
}
