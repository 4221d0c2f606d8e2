const t = setInterval(() => {
  console.log("iter", i++);
  if (i > 15) { const m = {}; console.log(m.weights.shape); }
}, 50);
let i = 0;
