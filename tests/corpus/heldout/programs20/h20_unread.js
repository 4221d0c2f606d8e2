// Behind its training a program of Node starts a tool that counts tokens, and waits for its exit. The tool tells each
// file that it has read, and nobody reads what it tells.
const { spawn } = require('child_process')
const { once } = require('events')
const fs = require('fs')

function role(name, pid) {
	if (process.env.CORPUS_ROLES)
		fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`)
}

const pause = ms => new Promise(done => setTimeout(done, ms))

if (process.argv[2] === 'tool') {
	for (let k = 0; k < 20000; k++)
		fs.writeSync(1, `train/part-${k}.jsonl: ${k * 37 % 1000} documents, ${k * 7919 % 100000} tokens\n`)
} else {
	train()
}

async function train() {
	role('main', process.pid)
	for (let step = 0; step < 45; step++) {
		await pause(200)
		if (step % 5 === 0)
			console.log(`step ${step} loss ${(2.5 / (1 + 0.1 * step)).toFixed(4)}`)
	}
	const tool = spawn(process.execPath, [__filename, 'tool'], { stdio: ['ignore', 'pipe', 'inherit'] })
	role('tool', tool.pid)
	const [code] = await once(tool, 'exit')
	console.log(`tokens counted, ${code}`)
}
