// A Node job that polls a slow queue: one item every eleven seconds.
const fs = require('fs');

const scale = Number(process.env.CORPUS_SCALE || '1');
if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
let i = 0;
function step() {
  console.log(`step ${i} loss ${(2 / (1 + i)).toFixed(3)}`);
  i += 1;
  if (i < 20) setTimeout(step, i < 14 ? 250 : 11000 * scale);
}
step();
