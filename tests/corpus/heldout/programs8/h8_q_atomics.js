// A worker thread waits with Atomics.wait for its weights; main derives them for a minute.
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");

if (isMainThread) {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(__filename, { workerData: flag });
  worker.on("message", (episode) => {
    console.log(`[learner] episode ${episode}`);
    if (episode !== 24) return;
    const end = Date.now() + 62000;
    let x = 1;
    while (Date.now() < end) x = (x * 16807) % 2147483647;
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  });
} else {
  for (let episode = 0; episode < 40; episode++) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    parentPort.postMessage(episode);
    if (episode === 24) Atomics.wait(workerData, 0, 0);
  }
}
