// The main thread waits for its worker with Atomics.wait; the worker waits for a message from main.
const { Worker } = require('worker_threads');
const sab = new SharedArrayBuffer(8);
const flag = new Int32Array(sab);
const w = new Worker(`const {parentPort, workerData} = require('worker_threads');
const f = new Int32Array(workerData);
parentPort.on('message', (i) => { Atomics.store(f, 0, i); Atomics.notify(f, 0); });`, { eval: true, workerData: sab });
let i = 0;
function step() {
  i++;
  if (i !== 15) w.postMessage(i);
  Atomics.wait(flag, 0, i - 1);
  console.log(`step ${i} loss ${(1 / i).toFixed(3)}`);
  setTimeout(step, 250);
}
step();
