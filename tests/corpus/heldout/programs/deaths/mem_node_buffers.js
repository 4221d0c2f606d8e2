// buffers outside of V8's heap
require("fs").appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
const keep = [];
setInterval(() => keep.push(Buffer.alloc(1 << 20, 1)), 10);
