// A trainer with a worker thread that waits in shared memory for the number of the next batch. A batch that is in the
// cache is told by a shorter way, which writes the number and wakes nobody: the worker waits on, the trainer waits for
// its message.
//
// slow: all are told, and the worker needs 48 s for one.
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");
const fs = require("fs");

const role = (name, pid) => process.env.CORPUS_ROLES && fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function work(wanted, slow) {
	for (let seen = 0; ; ) {
		Atomics.wait(wanted, 0, seen);
		seen = Atomics.load(wanted, 0);
		if (slow && seen === 36) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 48000);
		parentPort.postMessage(seen * 0.5);
	}
}

function ask(wanted, worker, step, slow) {
	const answer = new Promise((done) => worker.once("message", done));
	Atomics.store(wanted, 0, step + 1);
	if (slow || step !== 35) Atomics.notify(wanted, 0);
	return answer;
}

async function main(slow) {
	role("main", process.pid);
	const wanted = new Int32Array(new SharedArrayBuffer(4));
	const worker = new Worker(__filename, { workerData: { wanted, slow } });
	for (let step = 0; step < (slow ? 60 : 500); step++) {
		await sleep(200);
		const x = await ask(wanted, worker, step, slow);
		if (step % 5 === 0) console.log(`step ${step} loss ${x}`);
	}
	worker.terminate();
}

if (isMainThread) main(process.argv[2] === "slow");
else work(workerData.wanted, workerData.slow);
