// A service of embeddings is not there; fetch() has that as the cause of its own error.
'use strict';

async function embed(port, text) {
  const answer = await fetch(`http://127.0.0.1:${port}/embed`, { method: 'POST', body: text });
  return answer.json();
}

async function main() {
  for (let step = 0; step < 30; step++) {
    if (step % 5 === 0) console.log(`step ${step} loss ${(2.5 / (1 + step)).toFixed(3)}`);
    await new Promise((done) => setTimeout(done, 80));
  }
  const server = require('net').createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.on('listening', done));
  const port = server.address().port;
  await new Promise((done) => server.close(done));
  console.log(await embed(port, 'a text'));
}

main();
