// An exporter that gives vectors to a compressor through its stdin and waits until it has closed. The end of the stdin is never told:
// the compressor reads on, the exporter waits for its close.
//
// slow: the end is told, and the compressor needs 48 s for it.
const { spawn } = require("child_process");
const fs = require("fs");

const role = (name, pid) => process.env.CORPUS_ROLES && fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
const slow = process.argv[2] === "slow";
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function main() {
	role("main", process.pid);
	const command = slow ? "cat | gzip -c > vectors.gz; sleep 48" : "exec gzip -c > vectors.gz";
	const packer = spawn("sh", ["-c", command], { stdio: ["pipe", "inherit", "inherit"] });
	role("packer", packer.pid);
	for (let step = 0; step < 40; step++) {
		await sleep(200);
		packer.stdin.write(Buffer.alloc(4096, step));
		if (step % 5 === 0) console.log(`step ${step} vectors ${step * 1024}`);
	}
	if (slow) packer.stdin.end();
	await new Promise((done) => packer.on("close", done));
	console.log("exported");
}

main();
