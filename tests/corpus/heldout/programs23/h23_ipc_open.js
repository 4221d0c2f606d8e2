// An exporter with a process that packs what it is sent by messages. At the end the exporter waits until the process
// has ended; the process has a listener for messages and lives as long as their channel is open, which neither closes.
//
// slow: the process packs for 48 s, and then closes the channel.
const { fork } = require("child_process");
const fs = require("fs");

const role = (name, pid) => process.env.CORPUS_ROLES && fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function pack(slow) {
	let packed = 0;
	process.on("message", async (m) => {
		if (m.vectors) packed += m.vectors.length;
		if (!m.last) return;
		fs.writeFileSync("packed", `${packed}\n`);
		if (!slow) return;
		await sleep(48000);
		process.disconnect();
	});
}

async function main(slow) {
	role("main", process.pid);
	const packer = fork(__filename, ["pack", slow ? "slow" : "fast"]);
	role("packer", packer.pid);
	const ended = new Promise((done) => packer.on("exit", done));
	for (let step = 0; step < 40; step++) {
		await sleep(200);
		packer.send({ vectors: [step, step + 1] });
		if (step % 5 === 0) console.log(`step ${step} vectors ${2 * step}`);
	}
	packer.send({ last: true });
	await ended;
	console.log("exported");
}

if (process.argv[2] === "pack") pack(process.argv[3] === "slow");
else main(process.argv[2] === "slow");
