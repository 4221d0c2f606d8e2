// A worker keeps all documents in a list; its heap is limited to 24 MB. Nobody listens for its 'error'.
const { Worker, isMainThread } = require('worker_threads')

function read(kept, k) {
  for (let j = 0; j < 4000; j++) kept.push({ id: k * 4000 + j, text: 'word '.repeat(4) + k + j, tokens: [k, j, k + j] })
  console.log(`read ${kept.length} documents`)
  setTimeout(read, 80, kept, k + 1)
}

if (isMainThread) new Worker(__filename, { resourceLimits: { maxOldGenerationSizeMb: 24 } })
else read([], 0)
