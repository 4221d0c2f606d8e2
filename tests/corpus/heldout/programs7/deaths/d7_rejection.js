let n = 0;
const timer = setInterval(() => {
  console.log("request", n++);
  if (n === 8) {
    clearInterval(timer);
    (async () => {
      throw new Error("model llama-8b is not loaded on any worker");
    })();
  }
}, 120);
