// the heap of V8 is full: SIGABRT
const keep = [];
for (let i = 0; ; i++) keep.push(new Array(1000).fill(i));
