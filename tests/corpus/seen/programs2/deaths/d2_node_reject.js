for (let i = 0; i < 10; i++) console.log(`step ${i} loss ${(2 / (i + 1)).toFixed(3)}`);
require("fs").promises.readFile("/models/none/tokenizer.json");
