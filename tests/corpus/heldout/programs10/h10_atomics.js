// A worker waits by Atomics.wait for the cell in which main puts the number of a batch; main puts the eighth without waking it.
const fs = require('fs')
const { Worker, isMainThread, workerData, parentPort } = require('worker_threads')

if (isMainThread) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`)
  const shared = new Int32Array(new SharedArrayBuffer(8))
  const worker = new Worker(__filename, { workerData: shared })
  let k = 0
  worker.on('message', text => {
    console.log(text)
    setTimeout(() => {
      k++
      Atomics.store(shared, 0, k)
      if (k % 8) Atomics.notify(shared, 0)
    }, 200)
  })
} else {
  for (let k = 0; k < 100; k++) {
    parentPort.postMessage(`batch ${k} tokenized`)
    Atomics.wait(workerData, 0, k)
  }
}
