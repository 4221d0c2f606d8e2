// A trainer starts a tokenizer for each epoch, reads settings, and listens then for the tokenizer's end. For the second epoch
// there is little to do: the tokenizer has ended before anybody listens, and main waits for its end. A page with numbers
// is served besides.
const fs = require("fs");
const http = require("http");
const { spawn } = require("child_process");
const { once } = require("events");
const { setTimeout: nap } = require("timers/promises");

function role(name, pid) {
	if (process.env.CORPUS_ROLES)
		fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
}

function tokenize(epoch) {
	const program = `setTimeout(() => require("fs").writeFileSync("tokens.${epoch}", "1"), ${epoch ? 20 : 2000})`;
	const tokenizer = spawn(process.execPath, ["-e", program], { stdio: "ignore" });
	role("tokenizer", tokenizer.pid);
	return tokenizer;
}

async function train() {
	for (let step = 0; step < 400; step++) {
		if (step % 40 === 0) {
			const tokenizer = tokenize(step / 40);
			await nap(1200);
			const [code] = await once(tokenizer, "exit");
			console.log(`epoch ${step / 40}: tokens with ${code}`);
		}
		await nap(200);
		if (step % 5 === 0)
			console.log(`step ${step} loss ${(2.5 / (1 + 0.1 * step)).toFixed(4)}`);
	}
	process.exit(0);
}

role("main", process.pid);
http.createServer((request, answer) => answer.end("{}")).listen(0, "127.0.0.1");
train();
