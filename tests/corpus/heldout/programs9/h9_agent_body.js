// Shards by HTTP over an agent with two sockets. The answer to a shard that is not there is never read, so that its socket stays in use.
const fs = require("fs");
const http = require("http");
const { fork } = require("child_process");

function role(name, pid) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
}

if (process.argv[2] === "store") {
  http.createServer((request, response) => {
    const missing = Number(request.url.slice(7)) % 9 === 8;
    response.writeHead(missing ? 404 : 200);
    response.end(Buffer.alloc(200000));
  }).listen(0, "127.0.0.1", function () { process.send(this.address().port); });
  process.on("disconnect", () => process.exit(0));
} else {
  role("main", process.pid);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
  const get = (port, k) => new Promise((done, fail) => {
    http.get({ port, host: "127.0.0.1", path: `/shard/${k}`, agent }, (answer) => {
      if (answer.statusCode === 404) return done(null);
      let size = 0;
      answer.on("data", (part) => { size += part.length; });
      answer.on("end", () => done(size));
    }).on("error", fail);
  });
  const store = fork(__filename, ["store"]);
  role("store", store.pid);
  store.on("message", async (port) => {
    for (let k = 0; k < 60; k++) {
      const size = await get(port, k);
      console.log(`shard ${k}: ${size === null ? "not there, skipped" : size + " bytes"}`);
      await new Promise((r) => setTimeout(r, 150));
    }
    process.exit(0);
  });
}
