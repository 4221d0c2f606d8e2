// A trainer reads the loss of an answer of an evaluator that had nothing to tell.
'use strict';
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function evaluate(step) {
  await sleep(50);
  return step < 30 ? { metrics: { loss: 0.4 } } : {};
}

async function main() {
  for (let step = 0; step < 60; step++) {
    await sleep(80);
    if (step % 5 === 0) {
      const { metrics } = await evaluate(step);
      console.log(`step ${step} loss ${metrics.loss}`);
    }
  }
}

main();
