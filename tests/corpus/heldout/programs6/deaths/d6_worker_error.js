const { Worker, isMainThread } = require('worker_threads')
if (isMainThread) {
  let n = 0
  setInterval(() => console.log('tick', n++), 200)
  new Worker(__filename).on('error', error => { throw new Error('worker is gone', { cause: error }) })
} else {
  setTimeout(() => { throw new RangeError('shard 7 has 0 rows') }, 2000)
}
