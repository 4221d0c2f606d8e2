require("fs").appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`);
const kept = [];
setInterval(() => { kept.push(Buffer.alloc(5 << 20, 7)); console.log("kept", kept.length); }, 80);
