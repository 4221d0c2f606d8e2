// A worker writes checkpoints. Until step 40 main waits for its message; then it wants to be sure at once, and waits
// with Atomics.wait for a number that the worker sets when its line of the log has been written. A worker's output
// goes through the main thread, which stands in Atomics.wait.
const fs = require('fs')
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads')
const { once } = require('events')

const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds))

function role (name) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${process.pid}\n`)
}

function write (saved) {
  parentPort.on('message', (step) => {
    fs.writeFileSync('checkpoint.json', JSON.stringify({ step }))
    process.stdout.write(`checkpoint of step ${step} is written\n`, () => {
      Atomics.store(saved, 0, step)
      Atomics.notify(saved, 0)
      parentPort.postMessage(step)
    })
  })
}

async function train () {
  role('main')
  const saved = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(__filename, { workerData: saved })
  for (let step = 0; step < 400; step++) {
    await sleep(0.2)
    if (step % 5 === 0) console.log(`step ${step} loss ${(2.5 / (1 + 0.1 * step)).toFixed(4)}`)
    if (step % 10 !== 0) continue
    worker.postMessage(step)
    if (step < 40) await once(worker, 'message')
    else while (Atomics.load(saved, 0) < step) Atomics.wait(saved, 0, Atomics.load(saved, 0))
  }
}

if (isMainThread) train()
else write(workerData)
