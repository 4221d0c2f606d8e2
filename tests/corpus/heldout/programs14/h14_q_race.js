// A client asks a model by a unix socket; the answer is raced with 45 s, after which it is taken as lost and
// asked for anew.
const fs = require('fs');
const net = require('net');

if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
let lost = 0;

const server = net.createServer((s) => {
  s.on('data', (d) => {
    const k = Number(d);
    if (k === 60 && lost++ === 0) return;
    setTimeout(() => s.write(`answer ${k}\n`), 120);
  });
});

function ask(client, k) {
  let timer;
  const answer = new Promise((go) => client.once('data', (d) => go(String(d))));
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error('no answer in 45 s')), 45000); });
  client.write(String(k));
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

server.listen('model.sock', async () => {
  const client = net.connect('model.sock');
  for (let k = 0; k < 90; k++) {
    try {
      await ask(client, k);
    } catch (e) {
      console.log(`step ${k}: ${e.message}, once more`);
      await ask(client, k);
    }
    if (k % 5 === 0) console.log(`step ${k} answered`);
  }
  process.exit(0);
});
