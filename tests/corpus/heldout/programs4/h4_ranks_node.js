// Ranks in Node: rank 0 adds up; rank 1 awaits a promise of its tokenizer that is never settled.
const net = require('net');
const rank = +process.env.RANK, world = +process.env.WORLD_SIZE, port = +process.env.MASTER_PORT;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

async function tokenize(i) {
  if (rank === 1 && i === 14) await new Promise((resolve, reject) => {});
  return i * 2;
}

function serve() {
  let got = [], step = 0;
  net.createServer((s) => s.on('data', (d) => {
    for (const x of d.toString().trim().split('\n')) got.push([s, +x]);
    if (got.length < world - 1) return;
    const sum = got.reduce((a, [, x]) => a + x, 0);
    got.forEach(([c]) => c.write(sum + '\n'));
    got = [];
    console.log(`step ${step++} sum ${sum}`);
  })).listen(port, '127.0.0.1');
}

async function dial() {
  for (;;) {
    const s = net.connect(port, '127.0.0.1');
    const good = await new Promise((r) => { s.once('connect', () => r(true)); s.once('error', () => r(false)); });
    if (good) return s;
    await sleep(50);
  }
}

async function train() {
  const s = await dial();
  for (let i = 0; ; i++) {
    s.write(await tokenize(i) + '\n');
    await new Promise((r) => s.once('data', r));
    await sleep(200);
  }
}

rank === 0 ? serve() : train();
