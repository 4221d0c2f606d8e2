// A worker thread tokenizes batches. Main gives one over and waits with Atomics.wait for its end. For an unknown word
// the worker asks main for a newer vocabulary by a message: main cannot take it, as it waits.
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const fs = require('fs');

function toldRole(name) {
    if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${process.pid}\n`);
}

const sleep = (ms) => new Promise((go) => setTimeout(go, ms));

async function train() {
    toldRole('main');
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const worker = new Worker(__filename, { workerData: flag });
    worker.on('message', () => worker.postMessage({ vocabulary: ['rare'] }));
    await new Promise((go) => worker.once('online', go));
    for (let step = 0; step < 300; step++) {
        await sleep(180);
        if (step % 5 === 0) fs.writeSync(1, `step ${step}\n`);
        Atomics.store(flag, 0, 0);
        worker.postMessage({ step });
        Atomics.wait(flag, 0, 0);
    }
    process.exit(0);
}

function tokenize(flag) {
    let waiting = false;
    parentPort.on('message', (message) => {
        if (message.step === 50 && !waiting) {
            waiting = true;
            parentPort.postMessage('need a newer vocabulary');
            return;
        }
        Atomics.store(flag, 0, 1);
        Atomics.notify(flag, 0);
    });
}

if (isMainThread) train();
else tokenize(workerData);
