// Starts a converter for each file and waits for its exit; one of them takes 61 s and says nothing.
const fs = require("fs");
const { spawn } = require("child_process");

function role(name, pid) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
}

async function main() {
  role("main", process.pid);
  for (let k = 0; k < 16; k++) {
    const child = spawn("python3", ["-c", `import time; time.sleep(${k === 8 ? 61 : 0.2})`]);
    role("converter", child.pid);
    await new Promise((done) => child.on("exit", done));
    console.log(`video ${k} converted`);
  }
}

main();
