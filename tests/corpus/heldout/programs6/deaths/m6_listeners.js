const fs = require('fs')
const { EventEmitter } = require('events')
if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`)
const epochs = new EventEmitter()
epochs.setMaxListeners(0)
let n = 0
setInterval(() => {
  const rows = Array.from({ length: 300000 }, (_, k) => ({ k, n }))
  epochs.on('end', () => rows.length)
  console.log('lot', n++, epochs.listenerCount('end'))
}, 250)
