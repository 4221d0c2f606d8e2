// The service that keeps the metrics is not there any more, and the error of the connection is not handled.
const net = require("net");

let step = 0;
const door = net.createServer().listen(0, "127.0.0.1", () => {
	const { port } = door.address();
	door.close();
	const timer = setInterval(() => {
		if (step % 5 === 0)
			console.log(`step ${step} loss ${(2.5 / (1 + 0.1 * step)).toFixed(4)}`);
		if (++step === 30) {
			clearInterval(timer);
			net.connect(port, "127.0.0.1").write("metrics");
		}
	}, 100);
});
