// The main thread waits on a shared cell for a worker that has been told to stop.
const fs = require('fs');
const {Worker, isMainThread, workerData, parentPort} = require('worker_threads');

if (isMainThread) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
  const cell = new Int32Array(new SharedArrayBuffer(8));
  new Worker(__filename, {workerData: cell});
  for (let i = 1; i < 100; i++) {
    Atomics.store(cell, 1, i);
    Atomics.notify(cell, 1);
    Atomics.wait(cell, 0, i - 1);
    fs.writeSync(1, `batch ${i} tokenised\n`);
  }
} else {
  const cell = workerData;
  for (let i = 1; i < 14; i++) {
    Atomics.wait(cell, 1, i - 1);
    const end = Date.now() + 20;
    while (Date.now() < end);
    Atomics.wait(cell, 1, i, 200);
    Atomics.store(cell, 0, i);
    Atomics.notify(cell, 0);
  }
}
