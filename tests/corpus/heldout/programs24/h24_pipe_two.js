// A source of samples, a process of its own, is piped to two streams: one counts, one is for a checksum that is read at
// the end. The second becomes full, and with it both stand still: the exporter waits for the count's end, the source for
// room in its pipe.
//
// slow: the checksum is read along, and the source needs 54 s for one part.
const { spawn } = require("child_process");
const { PassThrough, Writable } = require("stream");
const fs = require("fs");

const role = (name, pid) => process.env.CORPUS_ROLES && fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function source(slow) {
	for (let step = 0; step < 50; step++) {
		await sleep(190);
		if (slow && step === 34) await sleep(54000);
		const size = step < 34 ? 100 : 200000;
		if (!process.stdout.write("x".repeat(size) + "\n")) await new Promise((done) => process.stdout.once("drain", done));
	}
}

async function main(slow) {
	role("main", process.pid);
	const child = spawn(process.execPath, [__filename, "source", slow ? "slow" : "fast"], { stdio: ["ignore", "pipe", "inherit"] });
	role("source", child.pid);
	let parts = 0;
	const count = new Writable({
		write(chunk, _, next) {
			if (parts % 5 === 0) console.log(`step ${parts} bytes ${chunk.length}`);
			parts++;
			next();
		},
	});
	const sum = new PassThrough();
	let bytes = 0;
	if (slow) sum.on("data", (chunk) => (bytes += chunk.length));
	child.stdout.pipe(count);
	child.stdout.pipe(sum);
	await new Promise((done) => count.on("finish", done));
	for await (const chunk of slow ? [] : sum) bytes += chunk.length;
	console.log(`exported ${bytes}`);
}

if (process.argv[2] === "source") source(process.argv[3] === "slow");
else main(process.argv[2] === "slow");
