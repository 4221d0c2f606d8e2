// A trainer takes its lines through a Transform that tokenizes. An empty line is left out by a return, without a call of
// the callback: the Transform waits for that, and takes no further line. The trainer waits for the next one; a server of
// metrics keeps the process.
'use strict';
const fs = require('fs');
const http = require('http');
const { Readable, Transform } = require('stream');

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function* lines() {
  for (let k = 0; k < 400; k++) {
    await sleep(150);
    yield k === 45 ? '' : `line ${k}`;
  }
}

class Tokenize extends Transform {
  constructor() {
    super({ objectMode: true, highWaterMark: 2 });
  }

  _transform(line, _, done) {
    if (line === '') return;
    done(null, line.split(' '));
  }
}

async function main() {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
  const metrics = http.createServer((request, answer) => answer.end('ok\n')).listen(0, '127.0.0.1');
  let step = 0;
  for await (const tokens of Readable.from(lines()).pipe(new Tokenize())) {
    await sleep(20 + tokens.length);
    if (step % 5 === 0) console.log(`step ${step} loss ${(2.5 / (1 + 0.1 * step)).toFixed(4)}`);
    step += 1;
  }
  metrics.close();
}

main();
