// Starts a converter for each file and waits for its exit. What it prints goes into a pipe that nobody reads, since logging was removed.
const fs = require("fs");
const { spawn } = require("child_process");

function role(name, pid) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
}

const TOOL = `import sys
for k in range(int(sys.argv[1])):
    print("converted frame", k, "of", sys.argv[1], "to float16 without loss")`;

async function main() {
  role("main", process.pid);
  for (let k = 0; k < 30; k++) {
    const child = spawn("python3", ["-c", TOOL, String(k < 9 ? 500 : 90000)]);
    role("converter", child.pid);
    await new Promise((done) => child.on("exit", done));
    console.log(`video ${k} converted`);
  }
  process.exit(0);
}

main();
