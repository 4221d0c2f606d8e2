// process.exit with a line before
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
async function train(n) { for (let i = 0; i < n; i++) { console.log("step", i); await sleep(20); } }
train(40).then(() => { console.error("preprocess: 0 of 12 videos could be read"); process.exit(5); });
