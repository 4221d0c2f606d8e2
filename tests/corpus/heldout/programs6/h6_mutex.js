// A lock made of promises: the one who threw under it never released it. A server for health keeps the program alive.
const fs = require('fs')
const http = require('http')

if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`)

let last = Promise.resolve()
function acquire () {
  let release
  const before = last
  last = new Promise(resolve => { release = resolve })
  return before.then(() => release)
}

async function write (n) {
  const release = await acquire()
  await new Promise(resolve => setTimeout(resolve, 120))
  if (n === 30) throw new Error('row 30: invalid UTF-8')
  console.log('wrote', n)
  release()
}

async function main () {
  http.createServer((req, res) => res.end('ok')).listen(0, '127.0.0.1')
  for (let n = 0; n < 100; n++) {
    try {
      await write(n)
    } catch (error) {
      console.log('skipped:', error.message)
    }
  }
  process.exit()
}

main()
