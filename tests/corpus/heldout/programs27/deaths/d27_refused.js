// A driver connects to a store that is not there; nobody listens to "error".
const net = require('net');
let step = 0;
const timer = setInterval(() => {
  if (step++ % 5 === 0) console.log(`step ${step}`);
  if (step === 30) {
    clearInterval(timer);
    net.connect(1, '127.0.0.1', () => console.log('connected'));
  }
}, 100);
