// A child prints rows; after 3000 of them its output is paused "until the batch is done", and then main waits for the child's end.
const { spawn } = require("child_process");
const fs = require("fs");

if (process.argv[2]) {
  let n = 0;
  const row = () => {
    fs.writeSync(1, "x".repeat(4000) + "\n");
    if (++n < 400) setTimeout(row, 15);
  };
  row();
} else {
  const note = (name, pid) => process.env.CORPUS_ROLES && fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
  note("main", process.pid);
  const child = spawn(process.execPath, [__filename, "child"], { stdio: ["ignore", "pipe", "inherit"] });
  note("child", child.pid);
  let size = 0, told = 0;
  child.stdout.on("data", (part) => {
    size += part.length;
    if (size - told > 40000) console.log(`embedded ${Math.floor((told = size) / 4001)} rows`);
    if (size > 700000) child.stdout.pause();
  });
  child.on("close", (code) => console.log("child ended", code));
}
