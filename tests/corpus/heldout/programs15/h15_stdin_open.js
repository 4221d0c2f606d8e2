// A tokenizer in a process of its own gets lines and gives numbers when it has all of an epoch. After the last
// line the trainer waits for its end without having closed the tokenizer's stdin.
const {spawn} = require('child_process');
const fs = require('fs');

function role(name, pid) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const tool = "const lines = require('readline').createInterface({input: process.stdin}); let n = 0;" +
  "lines.on('line', (l) => n += l.split(' ').length); lines.on('close', () => console.log(n));";

async function main() {
  role('main', process.pid);
  const tokenizer = spawn(process.execPath, ['-e', tool], {stdio: ['pipe', 'pipe', 'inherit']});
  role('tokenizer', tokenizer.pid);
  let count = '';
  tokenizer.stdout.on('data', (part) => { count += part; });
  for (let step = 0; step < 80; step++) {
    await sleep(120);
    tokenizer.stdin.write(`this is line ${step} of the corpus\n`);
    if (step % 5 === 0) console.log(`step ${step} lines ${step + 1}`);
  }
  console.log('waiting for the tokenizer');
  await new Promise((done) => tokenizer.on('close', done));
  console.log(`tokens ${count.trim()}`);
}

main();
