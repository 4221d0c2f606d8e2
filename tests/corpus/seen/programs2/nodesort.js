// A Node trainer sorts its manifest with sort(1) every few steps and awaits its end; once it does not end the input.
const { spawn } = require('child_process');
const fs = require('fs');
const role = (n, p) => { if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${n} ${p}\n`); };
role('main', process.pid);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

function sorted(lines, last) {
  return new Promise((done) => {
    const p = spawn('sort', ['-u']);
    if (last) role('sort', p.pid);
    let out = '';
    p.stdout.on('data', (d) => { out += d; });
    p.on('close', () => done(out));
    p.stdin.write(lines.join('\n') + '\n');
    if (!last) p.stdin.end();
  });
}

(async () => {
  for (let i = 0; ; i += 1) {
    await sleep(350);
    console.log(JSON.stringify({ level: 'info', step: i, loss: +(2 / (1 + i)).toFixed(4) }));
    if (i % 8 === 7) await sorted(['b', 'a', 'c'], i === 31);
  }
})();
