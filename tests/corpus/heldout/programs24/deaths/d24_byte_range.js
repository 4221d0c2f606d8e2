// A token's number is written into two bytes, and is larger.
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function pack(tokens) {
	const out = Buffer.alloc(2 * tokens.length);
	tokens.forEach((t, k) => out.writeUInt16LE(t, 2 * k));
	return out;
}

async function main() {
	for (let step = 0; step < 60; step++) {
		await sleep(100);
		const packed = pack([17, 4, step === 24 ? 70001 : step]);
		if (step % 5 === 0) console.log(`step ${step} bytes ${packed.length}`);
	}
}

main();
