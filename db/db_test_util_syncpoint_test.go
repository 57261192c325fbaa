//go:build syncpoint

// Port of db/db_test_util.cc.

package db_test

import "github.com/rocksdb-go/rocksdb/test_util/syncpoint"

func init() { resetSyncPoints = syncpoint.Reset }
