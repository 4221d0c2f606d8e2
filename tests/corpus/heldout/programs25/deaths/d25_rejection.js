// A promise fails and nobody waits for it.
let step = 0
const timer = setInterval(() => {
	if (step % 5 === 0) console.log('step', step)
	if (++step === 20) fetchPart('part-20')
}, 100)

async function fetchPart(name) {
	await new Promise((done) => setTimeout(done, 300))
	throw new RangeError(`manifest lists 19 parts, ${name} was asked for`)
}
