// A feature store has gone; the stream's error has no listener.
const net = require('net');

const store = net.createServer((peer) => peer.end('0.5\n'));
store.listen(0, '127.0.0.1', () => {
  const port = store.address().port;
  let step = 0;
  setInterval(() => {
    if (step % 5 === 0) console.log(`step ${step} loss ${2.5 / (1 + step)}`);
    net.connect(port, '127.0.0.1').resume();
    if (++step === 70) store.close();
  }, 100);
});
