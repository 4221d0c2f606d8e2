// A service of metrics answers with an error object, in which the trainer looks for a loss. Nobody waits for that.
const pause = ms => new Promise(done => setTimeout(done, ms))

async function metrics(step) {
	await pause(10)
	return step < 33 ? { result: { loss: 2.5 / (1 + 0.1 * step) } } : { error: 'no such run' }
}

async function report(step) {
	const answer = await metrics(step)
	if (step % 5 === 0 || step > 30)
		console.log(`step ${step} loss ${answer.result.loss.toFixed(4)}`)
}

async function train() {
	for (let step = 0; step < 60; step++) {
		await pause(100)
		report(step)
	}
}

train()
