// The answer of an evaluation has another form than the reader expects.
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const evaluate = async (step) => (step < 20 ? { metrics: { loss: 1 / (1 + step) } } : { error: "model is loading" });

async function watch() {
	for (let step = 0; step < 100; step += 5) {
		await sleep(500);
		const answer = await evaluate(step);
		console.log(`step ${step} loss ${answer.metrics.loss.toFixed(4)}`);
	}
}

watch();
