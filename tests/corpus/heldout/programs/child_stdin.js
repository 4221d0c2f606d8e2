// Waits for a tool to end; the tool waits for the end of its input, which is never given.
const { spawn } = require('child_process');
const fs = require('fs');
let i = 0;
function tool() {
  return new Promise((ok) => {
    const p = spawn('sort', [], { stdio: ['pipe', 'pipe', 'inherit'] });
    if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `tool0 ${p.pid}\n`);
    p.stdin.write('b\na\n');
    p.on('exit', ok);
  });
}
const t = setInterval(async () => {
  i++;
  if (i === 15) { clearInterval(t); await tool(); console.log('sorted'); return; }
  console.log(`step ${i} loss ${(1 / i).toFixed(3)}`);
}, 250);
