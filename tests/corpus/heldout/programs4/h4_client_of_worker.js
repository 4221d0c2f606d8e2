// A labelling service: the server hands its work to a thread that waits on a flag in shared memory; client and server are processes.
const fs = require('fs');
const net = require('net');
const {fork} = require('child_process');
const {Worker, isMainThread, workerData, parentPort} = require('worker_threads');

function note(role, pid) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${role} ${pid || process.pid}\n`);
}

if (!isMainThread) {
  let n = 0;
  parentPort.on('message', (m) => {
    if (++n > 15) Atomics.wait(workerData, 0, 0);
    parentPort.postMessage(m.length);
  });
} else if (process.argv[2] === 'serve') {
  const worker = new Worker(__filename, {workerData: new Int32Array(new SharedArrayBuffer(4))});
  const open = [];
  worker.on('message', (n) => open.shift().write(`${n}\n`));
  const server = net.createServer((s) => s.on('data', (d) => { open.push(s); worker.postMessage(d.toString()); }));
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.on('disconnect', () => process.exit());
} else {
  note('main');
  const child = fork(__filename, ['serve']);
  note('server', child.pid);
  child.on('message', (port) => {
    let i = 0;
    const s = net.connect(port, '127.0.0.1');
    const ask = () => s.write(`picture ${i++}`);
    s.on('connect', ask);
    s.on('data', (d) => { console.log(`picture ${i} label ${d.toString().trim()}`); setTimeout(ask, 250); });
  });
}
