// A Node trainer hands batches to a worker thread; the worker waits with Atomics.wait for a slot that is not given back.
const { Worker, isMainThread, workerData, parentPort } = require('worker_threads');
const fs = require('fs');

if (isMainThread) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
  const slots = new Int32Array(new SharedArrayBuffer(4));
  slots[0] = 14;
  const w = new Worker(__filename, { workerData: slots });
  let i = 0;
  w.on('message', () => {
    console.log(`step ${i} loss ${(2 / (1 + i)).toFixed(3)}`);
    i += 1;
    setTimeout(() => w.postMessage(i), 250);
  });
} else {
  const slots = workerData;
  const take = () => {
    while (Atomics.load(slots, 0) === 0) Atomics.wait(slots, 0, 0);
    Atomics.sub(slots, 0, 1);
  };
  take();
  parentPort.postMessage(0);
  parentPort.on('message', (n) => { take(); parentPort.postMessage(n); });
}
