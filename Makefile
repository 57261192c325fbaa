# Targets as upstream names them. `make bench` and `make check` are all a fresh
# machine needs.

GO ?= go
export CGO_ENABLED = 0
TAGS = invariants,syncpoint
TOOLS = db_bench ldb sst_dump db_stress db_crashtest cache_bench io_tracer_parser write_stress db_repl_stress upstream

.PHONY: all check compat fuzz bench test race engines lint vet staticcheck xref porting generate clean $(TOOLS) rocksdb_dump rocksdb_undump \
	crash_test crash_test_with_atomic_flush crash_test_with_best_efforts_recovery check_crash mutation metamorphic $(CRASH_TESTS)

all: $(TOOLS) rocksdb_dump rocksdb_undump

# The tools, at the root and git-ignored. db_stress has kill points and checks of
# invariants, as upstream's debug build.
$(TOOLS):
	$(GO) build $(if $(filter db_stress,$@),-tags "$(STRESS_TAGS)") -o $@ ./tools/$@
STRESS_TAGS = killpoint,invariants
rocksdb_dump rocksdb_undump:
	$(GO) build -o $@ ./tools/dump/$@

# Builds db_bench and runs the six usual benchmarks at NUM keys on a database in
# a temporary directory; prints db_bench's own lines.
NUM ?= 1000000
bench: db_bench
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	./db_bench --db="$$dir/db" --num=$(NUM) \
	  --benchmarks=fillseq,fillrandom,overwrite,readrandom,readseq,seekrandom

# Everything that CI runs.
check: engines lint xref test race check_crash

# The crash tests: runs of db_stress that are killed, for DURATION seconds or as
# long as upstream's.
CRASHTEST = ./db_crashtest --stress_cmd=./db_stress --destroy_db_initially=1 $(if $(DURATION),--duration=$(DURATION)) $(CRASHARGS)
CRASH_TESTS = blackbox_crash_test whitebox_crash_test blackbox_crash_test_with_atomic_flush whitebox_crash_test_with_atomic_flush \
	blackbox_crash_test_with_best_efforts_recovery blackbox_crash_test_with_cf_consistency

crash_test: whitebox_crash_test blackbox_crash_test
crash_test_with_atomic_flush: whitebox_crash_test_with_atomic_flush blackbox_crash_test_with_atomic_flush
crash_test_with_best_efforts_recovery: blackbox_crash_test_with_best_efforts_recovery

$(CRASH_TESTS): db_stress db_crashtest
blackbox_crash_test:
	$(CRASHTEST) --simple blackbox
	$(CRASHTEST) blackbox
whitebox_crash_test:
	$(CRASHTEST) --simple whitebox --random_kill_odd=$(CRASH_TEST_KILL_ODD)
	$(CRASHTEST) whitebox --random_kill_odd=$(CRASH_TEST_KILL_ODD)
blackbox_crash_test_with_atomic_flush:
	$(CRASHTEST) --cf_consistency blackbox --atomic_flush=1
whitebox_crash_test_with_atomic_flush:
	$(CRASHTEST) --cf_consistency whitebox --atomic_flush=1 --random_kill_odd=$(CRASH_TEST_KILL_ODD)
blackbox_crash_test_with_best_efforts_recovery:
	$(CRASHTEST) --test_best_efforts_recovery blackbox
blackbox_crash_test_with_cf_consistency:
	$(CRASHTEST) --cf_consistency blackbox
CRASH_TEST_KILL_ODD ?= 888887

# A short test of each kind, with the same parameters each time; CRASHSEED=random
# draws others.
BLACKBOXTIME ?= 180
WHITEBOXTIME ?= 120
CRASHSEED ?= 20261130
ifneq ($(CRASHSEED),random)
CHECK_SEED = --initial_random_seed_override=$(CRASHSEED)
endif
check_crash: db_stress db_crashtest
	$(CRASHTEST) blackbox $(CHECK_SEED) --duration=$(BLACKBOXTIME) --interval=10 >crashtest.log 2>&1 || { cat crashtest.log; exit 1; }
	@tail -1 crashtest.log
	$(CRASHTEST) whitebox $(CHECK_SEED) --duration=$(WHITEBOXTIME) --random_kill_odd=8887 --ops_per_thread=1500 --overrun=60 >crashtest.log 2>&1 || { cat crashtest.log; exit 1; }
	@tail -1 crashtest.log

# Five faults put into the engine, each of which the stress test has to find.
mutation:
	$(GO) run ./tools/db_crashtest/mutation

# The same operations under different options, for DURATION seconds.
metamorphic:
	$(GO) test -tags $(TAGS) -run 'TestMetamorphic$$' -timeout 0 . -v -metamorphic=$(or $(DURATION),600)s

# Installs the C++ engines that tests compare with, where the machine can.
engines:
	@bash internal/engines/install.sh

test:
	$(GO) test -tags $(TAGS) -timeout 40m ./...
	$(GO) test -run 'Alloc|Pinning' ./...

# Writes docs/compatibility.md: what other engines read of ours and we of theirs.
compat: engines
	$(GO) test -tags $(TAGS) -timeout 40m ./internal/compat -run TestMatrix -count=1 -compat=$(CURDIR)/docs/compatibility.md

# Compares tickers and histograms with those of upstream's db_bench and writes the
# tables of docs/statistics.md.
.PHONY: statistics
statistics:
	$(GO) test ./tools/db_bench -run TestStatisticsExact -count=1 -args -statistics-doc=$(CURDIR)/docs/statistics.md

# What Statistics cost: pairs of runs without and with them, one after the other,
# ROUNDS of them; prints each pair's ratio of operations a second and the medians.
.PHONY: bench_statistics
ROUNDS ?= 5
bench_statistics: db_bench
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && for i in $$(seq $(ROUNDS)); do for s in 0 1; do \
	  ./db_bench --db="$$dir/db" --seed=$$i --num=$(NUM) --statistics=$$s --benchmarks=fillrandom,readrandom 2>/dev/null | \
	    awk -v s=$$s '$$1 ~ /^(fill|read)random$$/ { print $$1, s, $$5 }'; done; done | \
	  awk '{ if ($$2 == 0) base[$$1] = $$3; else { r = $$3 / base[$$1]; n[$$1]++; v[$$1, n[$$1]] = r; printf "%-10s %.3f\n", $$1, r } } \
	    END { for (b in n) { for (i = 1; i <= n[b]; i++) for (j = i + 1; j <= n[b]; j++) if (v[b, j] < v[b, i]) { t = v[b, i]; v[b, i] = v[b, j]; v[b, j] = t } \
	      printf "%-10s median %.3f\n", b, v[b, int((n[b] + 1) / 2)] } }'

# Runs every fuzz target for FUZZTIME, one after the other. To make an interesting file of kilobytes smaller takes a minute unless that is bounded.
FUZZTIME ?= 10m
fuzz:
	@set -e; for f in $$(git grep -l '^func Fuzz' -- '*_test.go'); do \
	  for t in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' $$f); do \
	    echo "== $$t ($$(dirname $$f))"; \
	    $(GO) test -tags invariants ./$$(dirname $$f) -run '^$$' -fuzz "^$$t\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x -parallel 1; \
	  done; done

# The packages whose tests run several goroutines, under the race detector.
RACE = ./db/writethread ./memtable ./cache ./env ./util ./util/iodispatcher ./util/ratelimiter ./util/threadpool ./util/timer ./monitoring
race:
	CGO_ENABLED=1 $(GO) test -race -tags $(TAGS) -timeout 40m $(RACE)
	CGO_ENABLED=1 $(GO) test -race -tags $(TAGS) -timeout 40m -run TestConcurrent .

lint: vet staticcheck
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet -tags $(TAGS) ./...

staticcheck:
	$(GO) tool staticcheck -tags $(TAGS) ./...

# The cross-reference with upstream: headers, test names, ledger, docs/porting.md.
xref:
	$(GO) run ./tools/upstream check

# Writes the tables of docs/porting.md and the counts anew.
porting:
	$(GO) run ./tools/upstream status --update

generate:
	$(GO) generate ./...

clean:
	rm -f $(TOOLS) rocksdb_dump rocksdb_undump crashtest.log
