// a TypeError that nobody catches
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
async function train(n) { for (let i = 0; i < n; i++) { console.log("step", i); await sleep(20); } }
train(40).then(() => setTimeout(() => { const m = undefined; m.weights.length; }, 1));
