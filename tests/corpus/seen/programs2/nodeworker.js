// A Node trainer waits for a worker thread that scores a long list; its own loop has nothing to do meanwhile.
const { Worker, isMainThread, parentPort } = require('worker_threads');
const fs = require('fs');
const scale = +(process.env.CORPUS_SCALE || 1);

if (isMainThread) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
  let i = 0;
  const w = new Worker(__filename);
  w.on('message', (x) => {
    console.log(`step ${i} loss=${(2 / (1 + i)).toFixed(4)} score=${x.toFixed(2)}`);
    i += 1;
    if (i === 4) w.terminate(); else w.postMessage(i);
  });
  w.postMessage(0);
} else {
  const idle = new Int32Array(new SharedArrayBuffer(4));
  parentPort.on('message', () => {
    const end = Date.now() + 18000 * scale;
    let x = 0;
    while (Date.now() < end) {
      for (let k = 0; k < 100000; k += 1) x += Math.sqrt(k) * 1e-9;
      Atomics.wait(idle, 0, 0, 20);
    }
    parentPort.postMessage(x);
  });
}
