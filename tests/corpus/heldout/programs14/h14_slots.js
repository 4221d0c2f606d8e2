// A generator of samples with at most three requests at a time. A request that is refused goes around
// release(): after three of them acquire() waits for ever, and only the page of metrics keeps the process.
const fs = require('fs');
const http = require('http');

if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);

class Slots {
  constructor(n) { this.free = n; this.waiting = []; }
  acquire() {
    if (this.free > 0) { this.free--; return Promise.resolve(); }
    return new Promise((go) => this.waiting.push(go));
  }
  release() {
    const next = this.waiting.shift();
    if (next) next(); else this.free++;
  }
}

const slots = new Slots(3);

function ask(port, k) {
  return new Promise((resolve, reject) => {
    http.get({ port, path: `/sample?seed=${k}`, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (d) => { text += d; });
      answer.on('end', () => {
        if (answer.statusCode === 200) resolve(text); else reject(new Error(`HTTP ${answer.statusCode}`));
      });
    }).on('error', reject);
  });
}

async function sample(port, k) {
  await slots.acquire();
  const text = await ask(port, k);
  slots.release();
  return text.length;
}

async function main(port) {
  for (let k = 0; k < 500; k++) {
    try {
      await sample(port, k);
      if (k % 5 === 0) console.log(`step ${k} sampled`);
    } catch (e) {
      console.log(`step ${k} skipped: ${e.message}`);
    }
  }
  process.exit(0);
}

const server = http.createServer((request, answer) => {
  const seed = Number(new URL(request.url, 'http://x').searchParams.get('seed'));
  setTimeout(() => { answer.statusCode = seed % 20 === 19 ? 429 : 200; answer.end('x'.repeat(100)); }, 150);
});
server.listen(0, '127.0.0.1', () => main(server.address().port));
