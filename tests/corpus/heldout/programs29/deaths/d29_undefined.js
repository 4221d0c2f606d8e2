// An answer of a service has no `usage`; nobody has looked.
const fs = require("fs");

if (process.env.CORPUS_ROLES)
	fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
let step = 0;
let total = 0;

function answer(k) {
	return k < 30 ? { text: "ok", usage: { tokens: 12 } } : { error: "quota" };
}

const timer = setInterval(() => {
	total += answer(step).usage.tokens;
	if (step % 5 === 0)
		console.log(`step ${step} tokens ${total}`);
	if (++step === 200)
		clearInterval(timer);
}, 80);
