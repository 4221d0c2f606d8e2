// A Node feature server worker asks an upstream over HTTP, without time limit; the upstream says nothing.
const http = require('http');
const fs = require('fs');

const port = Number(process.env.UPSTREAM);
function fetchBatch(i, then) {
  http.get({ host: '127.0.0.1', port, path: `/b/${i}`, agent: false }, (res) => {
    res.resume();
    res.on('end', then);
  });
}
let i = 0;
function step() {
  fetchBatch(i, () => {
    console.log(`step ${i} loss ${(2 / (1 + i)).toFixed(3)}`);
    i += 1;
    setTimeout(step, 250);
  });
}
step();
