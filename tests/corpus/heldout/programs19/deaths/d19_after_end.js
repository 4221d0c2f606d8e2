// The log of metrics is ended with the training, and a last line is written to it afterwards.
const fs = require('fs')

const sleep = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds))

async function train () {
  const log = fs.createWriteStream('metrics.jsonl')
  for (let step = 0; step < 35; step++) {
    await sleep(0.1)
    log.write(JSON.stringify({ step, loss: 2.5 / (1 + 0.1 * step) }) + '\n')
    if (step % 5 === 0) console.log(`step ${step} loss ${(2.5 / (1 + 0.1 * step)).toFixed(4)}`)
  }
  log.end()
  log.write(JSON.stringify({ best: 0.55 }) + '\n')
  await sleep(2)
}

train()
