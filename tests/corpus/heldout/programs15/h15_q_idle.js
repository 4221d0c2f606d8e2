// A server of a model answers requests, then nobody asks for 60 s, and then some again.
const http = require('http');

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
let served = 0;

const server = http.createServer(async (request, answer) => {
  await sleep(100);
  answer.end('0.5\n');
  if (served++ % 5 === 0) console.log(`step ${served - 1} request ${request.url}`);
});

function ask(k) {
  return new Promise((done, fail) => {
    http.get({port: server.address().port, path: `/score/${k}`, agent: false}, (a) => {
      a.resume();
      a.on('end', done);
    }).on('error', fail);
  });
}

server.listen(0, '127.0.0.1', async () => {
  for (let k = 0; k < 60; k++) await ask(k);
  await sleep(60000);
  for (let k = 60; k < 80; k++) await ask(k);
  server.close();
});
