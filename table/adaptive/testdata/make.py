#!/usr/bin/env python3
"""Makes the golden plain and cuckoo tables with ldb 7.8.3: make.py WORK OUT.

OUT gets plain/ and cuckoo/; `go run ./internal/cmd/packgolden OUT golden.tar.zst`
packs them. The tables named v11 were written by db_bench 11.8.1 with
  --num=500 --value_size=60 --seed=42 --threads=1 --compression_type=none
  --write_buffer_size=32768 --target_file_size_base=16384
  --max_bytes_for_level_base=65536 --mmap_read=true, and
  --benchmarks=fillrandom,flush --use_plain_table=true --prefix_size=6, or
  --benchmarks=filluniquerandom,flush --use_cuckoo_table=true
and are added by hand.
"""
import glob, os, re, shutil, subprocess, sys


def ldb(db, *args, stdin=None):
    r = subprocess.run(["ldb", "--db=" + db, "--hex", *args], input=stdin, text=True, capture_output=True)
    if r.returncode or "Failed" in r.stderr:
        sys.exit("%s: %s %s" % (args, r.stdout, r.stderr))
    return r.stdout


def hexed(b):
    return "0x" + b.hex().upper()


def plain_entries():
    # Keys with a prefix in common stay below 32 bytes: ldb 7.8.3 loses the prefix
    # of longer ones with encoding kPrefix.
    for p in range(40):
        for s in range(1 + p * 7 % 23):
            yield b"pfx%05d%03d" % (p, s) + b"x" * (s * s % 20), b"v%d.%d" % (p, s) * (s % 5)
    for n in (0, 55, 62, 63, 64, 127, 128, 300):
        yield b"z%06d!" % n + b"k" * n, b"w" * n


def cuckoo_entries():
    for i in range(300):
        yield b"%08d" % (i * 7919 % 100000000) + b"key", b"value%05d" % i


def write_options(db, table, prefix, family, table_options):
    path = sorted(glob.glob(db + "/OPTIONS-*"))[-1]
    text = open(path).read()
    family = {"table_factory": table, "prefix_extractor": prefix, "ttl": 0, "periodic_compaction_seconds": 0,
              "level0_file_num_compaction_trigger": 100, "level0_slowdown_writes_trigger": 200,
              "level0_stop_writes_trigger": 300, "allow_mmap_reads": "true", **family}
    for k, v in family.items():
        text = re.sub(r"(?m)^  %s=.*" % k, "  %s=%s" % (k, v), text)
    text = re.sub(r'(?s)\[TableOptions/BlockBasedTable "default"\].*', '[TableOptions/%s "default"]\n' % table +
                  "".join("  %s=%s\n" % kv for kv in table_options.items()), text)
    open(path, "w").write(text)


def make(work, out, name, table, entries, deletes, prefix, family, table_options):
    db = os.path.join(work, name)
    shutil.rmtree(db, ignore_errors=True)
    ldb(db, "--create_if_missing", "put", hexed(deletes[0]), hexed(b"0" * len(entries[0][1])))
    write_options(db, table, prefix, family, table_options)
    ldb(db, "--try_load_options", "load", stdin="".join("%s ==> %s\n" % (hexed(k), hexed(v)) for k, v in entries))
    # Each opening makes a table of the log.
    for k in deletes + [entries[3][0], entries[7][0]]:
        ldb(db, "--try_load_options", "delete", hexed(k))
    shutil.copy(sorted(glob.glob(db + "/OPTIONS-*"))[-1], os.path.join(out, name + ".OPTIONS"))
    tables = sorted(glob.glob(db + "/*.sst"))
    largest = max(tables, key=os.path.getsize)
    shutil.copy(largest, os.path.join(out, name + "_flush.sst"))
    shutil.copy([t for t in tables if os.path.getsize(t) < os.path.getsize(largest)][-1], os.path.join(out, name + "_delete.sst"))
    ldb(db, "--try_load_options", "compact")
    shutil.copy(max(glob.glob(db + "/*.sst"), key=os.path.getsize), os.path.join(out, name + "_compact.sst"))
    with open(os.path.join(out, name + ".txt"), "w") as f:
        f.write(ldb(db, "--try_load_options", "scan").replace(" : ", " ==> "))


def main(work, out):
    plain = dict(store_index_in_file="false", encoding_type="kPlain", huge_page_tlb_size=0, hash_table_ratio=0.75,
                 full_scan_mode="false", bloom_bits_per_key=10, index_sparseness=16, user_key_len=0)
    entries, deletes = list(plain_entries()), [b"pfx00003002deleted", b"pfx00039zzz"]
    fixed = [(b"%016d" % (i * i), b"v%d" % i) for i in range(400)]
    to = os.path.join(out, "plain")
    os.makedirs(to)
    for name, prefix, family, changed in (
            ("plain", "rocksdb.FixedPrefix.8", {}, {}),
            ("prefix", "rocksdb.FixedPrefix.8", {}, {"encoding_type": "kPrefix", "index_sparseness": 4}),
            ("stored", "rocksdb.FixedPrefix.8", {"bloom_locality": 1}, {"encoding_type": "kPrefix", "store_index_in_file": "true"}),
            ("sparse", "rocksdb.CappedPrefix.5", {}, {"store_index_in_file": "true", "index_sparseness": 0,
                                                     "hash_table_ratio": 2.5, "bloom_bits_per_key": 3}),
            ("total", "nullptr", {}, {"store_index_in_file": "true", "hash_table_ratio": 0, "index_sparseness": 5}),
            ("nobloom", "rocksdb.Noop", {}, {"encoding_type": "kPrefix", "store_index_in_file": "true",
                                             "bloom_bits_per_key": 0, "hash_table_ratio": 0.5})):
        make(work, to, name, "PlainTable", entries, deletes, prefix, family, {**plain, **changed})
    make(work, to, "fixed", "PlainTable", fixed, [b"0" * 15 + b"x"], "rocksdb.FixedPrefix.12", {"bloom_locality": 1},
         {**plain, "user_key_len": 16, "store_index_in_file": "true"})
    cuckoo = dict(use_module_hash="true", identity_as_first_hash="false", max_search_depth=100, cuckoo_block_size=5, hash_table_ratio=0.9)
    entries, deletes = list(cuckoo_entries()), [b"00000001del", b"99999999del"]
    to = os.path.join(out, "cuckoo")
    os.makedirs(to)
    for name, changed in (
            ("module", {}), ("mask", {"use_module_hash": "false"}),
            ("identity", {"identity_as_first_hash": "true", "cuckoo_block_size": 1, "hash_table_ratio": 0.95}),
            ("single", {"use_module_hash": "false", "cuckoo_block_size": 1, "max_search_depth": 2, "hash_table_ratio": 0.6})):
        make(work, to, name, "CuckooTable", entries, deletes, "nullptr", {}, {**cuckoo, **changed})


main(*sys.argv[1:3])
