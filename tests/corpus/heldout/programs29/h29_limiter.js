// A training in Node with a limiter of four places for its questions to a service of embeddings (in the same process). A question whose answer
// is known already returns early - without giving its place back. After four of those every question waits for a place. A small server for
// the state keeps the process alive.
//
// slow: the place is given back; the service needs 66 s for one answer.
const http = require("http");
const fs = require("fs");

const slow = process.argv[2] === "slow";
const STALL = 80;
const STEPS = slow ? 100 : 4000;

class Limiter {
	constructor(places) {
		this.free = places;
		this.queue = [];
	}

	async acquire() {
		if (this.free > 0) {
			this.free--;
			return;
		}
		await new Promise((go) => this.queue.push(go));
	}

	release() {
		const next = this.queue.shift();
		if (next)
			next();
		else
			this.free++;
	}
}

const limiter = new Limiter(4);
const known = new Map();

function ask(port, text) {
	return new Promise((resolve, reject) => {
		http.get({ port, path: "/embed?" + text, agent: false }, (answer) => {
			let body = "";
			answer.on("data", (part) => (body += part));
			answer.on("end", () => resolve(Number(body)));
		}).on("error", reject);
	});
}

async function embed(port, text) {
	await limiter.acquire();
	if (known.has(text)) {
		if (slow)
			limiter.release();
		return known.get(text);
	}
	try {
		const vector = await ask(port, text);
		known.set(text, vector);
		return vector;
	} finally {
		limiter.release();
	}
}

function crunch() {
	const end = Date.now() + 25;
	let x = 1;
	while (Date.now() < end)
		x = x * 0.999 + 1;
	return x;
}

async function main() {
	if (process.env.CORPUS_ROLES)
		fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
	let asked = 0;
	const service = http.createServer((question, answer) => {
		asked++;
		setTimeout(() => answer.end(String(asked % 7)), slow && asked === STALL ? 66000 : 60);
	});
	await new Promise((go) => service.listen(0, "127.0.0.1", go));
	const port = service.address().port;
	let loss = 4;
	for (let step = 0; step < STEPS; step++) {
		const text = step >= STALL - 4 && !slow ? "step1" : "step" + step;
		loss = loss * 0.99 + 1e-6 * (await embed(port, text));
		crunch();
		await new Promise((go) => setTimeout(go, 180));
		if (step % 4 === 0)
			console.log(JSON.stringify({ step, loss: Number(loss.toFixed(5)) }));
	}
	service.close();
}

main();
