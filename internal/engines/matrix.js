'use strict'
// Reads and writes one database with one of the npm engines:
//   node -e SCRIPT VERSION, in the folder of node_modules, a job as JSON on stdin:
//   {db, options, prefix, gets: [hex…]}   scans the database, asks for the keys
//   {db, options, lines: [[hexkey, hexvalue]…]}   writes and flushes
// It prints JSON: {error, cells: {prefix: {n, md5}}, gets: {hexkey: md5}}. A sum is
// that of lines "0xKEY ==> 0xVALUE\n" whose keys begin with the prefix, a get's
// that of the value, "" where there is none, and "!" with the error.
const fs = require('fs')
const { createHash } = require('crypto')
const version = process.argv[1]
const job = JSON.parse(fs.readFileSync(0, 'utf8'))
const hex = b => Buffer.from(b).toString('hex').toUpperCase()
const sum = s => createHash('md5').update(s).digest('hex')
const text = e => String((e && e.cause && e.cause.message) || (e && e.message) || e)

const engines = {
  '11.8.1': async () => {
    const m = require('@harperfast/rocksdb-js-linux-x64-glibc')
    const c = m.constants
    const db = new m.Database()
    db.open(job.db, { name: 'default', mode: 'optimistic', ...job.options })
    return {
      scan: async each => {
        db.setIteratorState(Buffer.alloc(8))
        const it = new m.Iterator(db, c.ITERATOR_INCLUDE_VALUES_FLAG | c.ITERATOR_NEEDS_STABLE_VALUE_BUFFER_FLAG, 0, 0, 0)
        for (let r = it.next(); r !== c.ITERATOR_RESULT_DONE; r = it.next()) each(r.key, r.value)
      },
      get: async k => db.getSync(k, c.ALWAYS_CREATE_NEW_BUFFER_FLAG),
      put: async kv => { for (const [k, v] of kv) db.putSync(k, v); db.flushSync() },
      close: async () => db.close()
    }
  },
  '10.5.1': async () => {
    const RocksDB = require('rocksdb-native')
    const { filter, ...options } = job.options || {}
    if (filter === 'none') options.filterPolicy = null
    if (filter === 'bloom') options.filterPolicy = new RocksDB.BloomFilterPolicy(10)
    if (filter === 'ribbon') options.filterPolicy = new RocksDB.RibbonFilterPolicy(10, -1)
    const db = new RocksDB(job.db, options)
    await db.ready()
    return {
      scan: async each => { for await (const { key, value } of db.iterator()) each(key, value) },
      get: async k => {
        const r = db.read()
        const p = r.get(k)
        await r.flush()
        const v = await p
        r.destroy()
        return v
      },
      put: async kv => {
        const w = db.write()
        const done = kv.map(([k, v]) => w.put(k, v))
        await w.flush(); await Promise.all(done); w.destroy()
        await db.flush()
      },
      close: () => db.close()
    }
  },
  '9.7.4': async () => {
    const { RocksLevel } = require('@nxtedition/rocksdb')
    const open = async () => {
      const db = new RocksLevel(job.db, { keyEncoding: 'buffer', valueEncoding: 'buffer', ...job.options })
      await db.open()
      return db
    }
    let db = await open()
    return {
      scan: async each => { for await (const [k, v] of db.iterator()) each(k, v) },
      get: async k => (await db.getMany([k]))[0],
      put: async kv => {
        const batch = db.batch()
        for (const [k, v] of kv) batch.put(k, v)
        await batch.write()
        await db.close() // recovery flushes
        db = await open()
      },
      close: () => db.close()
    }
  }
}

const out = { error: '', cells: {}, gets: {} }
const finish = () => process.stdout.write(JSON.stringify(out) + '\n', () => process.exit(0))

async function run () {
  try {
    const e = await engines[version]()
    if (job.lines) await e.put(job.lines.map(l => l.map(x => Buffer.from(x, 'hex'))))
    else {
      let cell = null; let sums = null
      const end = () => { if (sums) out.cells[cell] = { n: sums.n, md5: sums.h.digest('hex') } }
      try {
        await e.scan((k, v) => {
          const p = Buffer.from(k).subarray(0, job.prefix).toString('latin1')
          if (p !== cell) { end(); cell = p; sums = { n: 0, h: createHash('md5') } }
          sums.h.update('0x' + hex(k) + ' ==> 0x' + hex(v) + '\n'); sums.n++
        })
        end()
      } catch (err) { out.error = text(err) }
      for (const k of job.gets) {
        try {
          const v = await e.get(Buffer.from(k, 'hex'))
          out.gets[k] = v === undefined || v === null ? '' : sum(v)
        } catch (err) { out.gets[k] = '!' + text(err) }
      }
    }
    await e.close()
  } catch (err) { out.error = out.error || text(err) }
  finish()
}
process.on('unhandledRejection', () => {}) // a failed read's second promise
process.on('uncaughtException', err => { out.error = out.error || text(err); finish() })
run()
