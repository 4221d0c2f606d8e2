// A trainer writes its predictions to a file's stream. Before a checkpoint it waits for the stream's 'drain', that all
// is written: but that comes only after a write() that has returned false, and the last one had room. A server of
// metrics keeps the process. With "slow" it asks before, and a worker thread computes for 48 s.
'use strict';
const fs = require('fs');
const http = require('http');
const { once } = require('events');
const { Worker } = require('worker_threads');

const slow = process.argv.includes('slow');
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function evaluate() {
  return new Promise((done) => {
    const end = `const e = Date.now() + 48000; let x = 1;
      const t = setInterval(() => {
        for (let k = 0; k < 1e6; k++) x = x * 0.999 + k;
        if (Date.now() > e) clearInterval(t);
      }, 100);`;
    new Worker(end, { eval: true }).on('exit', done);
  });
}

async function main() {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
  const metrics = http.createServer((request, answer) => answer.end('ok\n')).listen(0, '127.0.0.1');
  const out = fs.createWriteStream('predictions.txt');
  for (let step = 0; step < (slow ? 60 : 400); step++) {
    await sleep(200);
    const room = out.write(`${step} `.repeat(step === 20 ? 20000 : 40) + '\n');
    if (step % 5 === 0) console.log(`step ${step} loss ${(2.5 / (1 + 0.1 * step)).toFixed(4)}`);
    if (step > 0 && step % 20 === 0) {
      if (!slow || !room) await once(out, 'drain');
      fs.writeFileSync('checkpoint.json', JSON.stringify({ step }));
      if (slow && step === 40) await evaluate();
    }
  }
  out.end();
  metrics.close();
}

main();
