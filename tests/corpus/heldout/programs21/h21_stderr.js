// A supervisor starts a trainer and reads its standard output. Its standard error is a pipe as well, which nobody reads. From
// step 30 on the trainer warns of each sample, until the pipe is full.
const fs = require("fs");
const { spawn } = require("child_process");

function role(name, pid) {
	if (process.env.CORPUS_ROLES)
		fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
}

const program = `
import sys, time
for step in range(400):
    time.sleep(0.2)
    if step >= 30:
        for k in range(64):
            sys.stderr.write("UserWarning: sample %d has a size of 0 and is padded\\n" % k + "  x = pad(x)\\n" * 20)
            sys.stderr.flush()
    if step % 5 == 0:
        print("step %d loss %.4f" % (step, 2.5 / (1 + 0.1 * step)), flush=True)
`;

role("main", process.pid);
const trainer = spawn(process.argv[2], ["-c", program], { stdio: ["ignore", "pipe", "pipe"] });
role("trainer", trainer.pid);
trainer.stdout.on("data", (text) => process.stdout.write(text));
trainer.on("exit", (code) => process.exit(code));
