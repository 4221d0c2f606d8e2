for (let i = 0; i < 10; i++) console.log(`step ${i} loss ${(2 / (i + 1)).toFixed(3)}`);
const kept = [];
for (;;) kept.push(new Array(1000).fill(Math.random()).map(String));
