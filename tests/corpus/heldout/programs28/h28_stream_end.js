// A preparation reads parts from a local server. The server ends the 100th part early, and the promise resolves on 'end' only, not on
// 'aborted' or 'close': it stays open, while a timer for metrics keeps the process alive. slow: the part trickles for 66 s.
const fs = require('fs');
const http = require('http');

const slow = process.argv.includes('slow');
const note = (name) => process.env.CORPUS_ROLES && fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${process.pid}\n`);

const server = http.createServer((q, a) => {
  const part = Number(q.url.slice(1));
  a.writeHead(200, { 'content-length': 6600 });
  if (part !== 100) return a.end('x'.repeat(6600));
  let sent = 0;
  const timer = setInterval(() => {
    a.write('x'.repeat(100));
    sent += 100;
    if (!slow && sent === 500) { clearInterval(timer); a.destroy(); }
    if (sent === 6600) { clearInterval(timer); a.end(); }
  }, 1000);
});

const fetchPart = (port, part) => new Promise((resolve) => {
  http.get({ port, path: `/${part}` }, (a) => {
    const got = [];
    a.on('data', (d) => got.push(d));
    a.on('error', () => {});
    a.on('end', () => resolve(Buffer.concat(got)));
  });
});

server.listen(0, async () => {
  note('main');
  const metrics = setInterval(() => fs.writeFileSync('metrics.json', JSON.stringify(process.memoryUsage())), 5000);
  const { port } = server.address();
  for (let part = 0; part < (slow ? 115 : 3000); part++) {
    await fetchPart(port, part);
    await new Promise((r) => setTimeout(r, 200));
    if (part % 5 === 0) console.log(`part ${part} tokens ${part * 812}`);
  }
  clearInterval(metrics);
  process.exit(0);
});
