// All lines are kept, in a worker whose heap may have 48 MB.
const { Worker, isMainThread } = require("worker_threads");

if (isMainThread) {
  new Worker(__filename, { resourceLimits: { maxOldGenerationSizeMb: 48 } });
} else {
  const kept = [];
  let round = 0;
  setInterval(() => {
    for (let k = 0; k < 30000; k++) kept.push({ id: round * 30000 + k, text: "line " + k });
    console.log(`${kept.length} lines read`);
    round++;
  }, 150);
}
