// Four trainers are told each step by the program that averages. Trainer 2 has thrown in its handler of messages; its
// handler of uncaught exceptions notes it and goes on, and so it tells its state for ever, and no gradient.
const { fork } = require('child_process');
const fs = require('fs');

function role(name, pid) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
}

function trainer(rank) {
  let step = 0;
  process.on('uncaughtException', (e) => console.log(`[${rank}] ERROR ${e.message} (step ${step}), continuing`));
  process.on('disconnect', () => process.exit(0));
  setInterval(() => console.log(`[${rank}] alive, rss ${process.memoryUsage().rss >> 20} MB`), 10000);
  process.on('message', (m) => {
    step = m.step;
    const sample = rank === 2 && step === 30 ? { id: 811 } : { id: step, text: 'a b c' };
    const tokens = sample.text.split(' ').length;
    setTimeout(() => process.send({ rank, step, gradient: tokens / (1 + step) }), 100);
  });
}

function main() {
  role('launcher', process.pid);
  const ranks = [0, 1, 2, 3].map((r) => {
    const p = fork(__filename, { env: { ...process.env, RANK: String(r), WORLD_SIZE: '4' } });
    role(`rank${r}`, p.pid);
    return p;
  });
  let got = 0, sum = 0, step = 0;
  const next = () => { got = 0; sum = 0; step += 1; ranks.forEach((p) => p.send({ step })); };
  ranks.forEach((p) => p.on('message', (m) => {
    sum += m.gradient;
    got += 1;
    if (got < 4) return;
    if (step % 10 === 0) console.log(`step ${step}: gradient ${(sum / 4).toFixed(4)}`);
    if (step < 200) next(); else ranks.forEach((q) => q.disconnect());
  }));
  next();
}

if (process.env.RANK) trainer(Number(process.env.RANK)); else main();
