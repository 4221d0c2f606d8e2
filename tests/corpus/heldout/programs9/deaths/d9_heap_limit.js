// All lines are kept, in a heap of 48 MB.
require("v8").setFlagsFromString("--max-old-space-size=48");
const kept = [];
let round = 0;
setInterval(() => {
  for (let k = 0; k < 60000; k++) kept.push({ id: round * 60000 + k, text: "line " + k });
  console.log(`${kept.length} lines read`);
  round++;
}, 50);
