const kept = [];
let n = 0;
setInterval(() => {
  for (let k = 0; k < 20000; k++) kept.push({ token: "t" + n++, at: [n, n + 1] });
  console.log("cached", n, "tokens");
}, 50);
