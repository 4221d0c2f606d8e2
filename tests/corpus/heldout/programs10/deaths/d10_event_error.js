// An 'error' for which nobody listens.
const net = require('net')

let k = 0
setInterval(() => {
  console.log(`batch ${k++}`)
  if (k === 8) net.connect(9, '127.0.0.1').on('data', () => {})
}, 150)
