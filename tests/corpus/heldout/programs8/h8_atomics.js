// A worker thread waits with Atomics.wait for its weights; main sends them when the worker has posted its last result.
const { Worker, isMainThread, parentPort, workerData } = require("worker_threads");

if (isMainThread) {
  if (process.env.CORPUS_ROLES) require("fs").appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(__filename, { workerData: flag });
  worker.on("message", (result) => {
    console.log(`[learner] episode ${result.episode} reward ${result.reward.toFixed(2)}`);
    if (result.episode % 30 !== 29) return;
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  });
} else {
  let episode = 0;
  const play = () => {
    if (episode === 30) Atomics.wait(workerData, 0, 1);
    else if (episode > 0 && episode % 60 === 0) Atomics.wait(workerData, 0, 0);
    parentPort.postMessage({ episode: episode, reward: Math.sqrt(episode++) });
    setTimeout(play, 200);
  };
  play();
}
