// Four forked workers ask for the next batch; the primary answers the one at a place in a list, which is off by one after a worker was added.
const { fork } = require("child_process");
const fs = require("fs");

const note = (name) => process.env.CORPUS_ROLES && fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${process.pid}\n`);
if (process.argv[2]) {
  note("worker" + process.argv[2]);
  process.on("message", (batch) => setTimeout(() => process.send(batch), 150));
  process.send(-1);
} else {
  note("main");
  const workers = [];
  let batch = 0;
  const start = (k) => {
    const w = fork(__filename, [String(k)]);
    w.on("message", () => {
      const to = workers.indexOf(w) - (workers.length > 3 ? 1 : 0);
      console.log(JSON.stringify({ batch: ++batch, worker: k }));
      if (workers[to]) workers[to].send(batch);
    });
    return w;
  };
  for (let k = 0; k < 3; k++) workers.push(start(k));
  setTimeout(() => workers.push(start(3)), 4000);
}
