// The server of metrics is not there any more; nobody waits for the error.
const http = require("http");

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

const push = (port, loss) => new Promise((done, failed) => {
	const question = http.get({ host: "127.0.0.1", port, path: `/loss/${loss}` });
	question.on("response", (answer) => answer.resume().on("end", done));
	question.on("error", failed);
});

async function main() {
	const server = http.createServer((q, answer) => answer.end("ok")).listen(0);
	const port = await new Promise((done) => server.on("listening", () => done(server.address().port)));
	for (let step = 0; step < 100; step += 5) {
		await sleep(400);
		console.log(`step ${step} loss ${1 / (1 + step)}`);
		if (step === 25) {
			server.close();
			server.closeAllConnections && server.closeAllConnections();
			await sleep(100);
		}
		push(port, step);
	}
}

main();
