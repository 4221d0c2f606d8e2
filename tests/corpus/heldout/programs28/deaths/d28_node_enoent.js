// A shard's file is not there, and the stream has no 'error' handler.
const fs = require('fs');
let step = 0;
const timer = setInterval(() => {
  if (step % 5 === 0) console.log(`step ${step} loss ${(2 / (1 + step)).toFixed(3)}`);
  if (++step === 25) { clearInterval(timer); fs.createReadStream('shard-0025.bin').pipe(fs.createWriteStream('out.bin')); }
}, 100);
