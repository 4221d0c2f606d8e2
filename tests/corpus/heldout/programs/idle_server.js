// A small inference server that gets a request late, then ends.
const http = require('http');
let n = 0;
const s = http.createServer((q, r) => { r.end('ok'); n++; console.log(`step ${n} loss ${(1 / n).toFixed(3)}`); if (n === 14) setTimeout(() => { s.close(); process.exit(0); }, 300); });
s.listen(0, '127.0.0.1', () => {
  const p = s.address().port;
  const ask = () => http.get({ host: '127.0.0.1', port: p }, (r) => { r.resume(); });
  for (let i = 0; i < 13; i++) setTimeout(ask, 300 * i);
  setTimeout(ask, 64000);
});
