// A service that looks after itself every few requests: it runs curl on its own address, and waits for it. While it waits it answers nobody, curl included.
const fs = require('fs')
const http = require('http')
const { execFileSync } = require('child_process')

function role(name, pid) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`)
}

const server = http.createServer((ask, answer) => answer.end('{"healthy": true}\n'))

function selfTest(port) {
  const script = 'echo "probe $$" >> "${CORPUS_ROLES:-/dev/null}"; exec curl -s "$0"'
  return JSON.parse(execFileSync('bash', ['-c', script, `http://127.0.0.1:${port}/health`])).healthy
}

server.listen(0, '127.0.0.1', async () => {
  role('main', process.pid)
  for (let k = 1; ; k++) {
    await new Promise((done) => setTimeout(done, 250))
    console.log(`batch ${k} scored`)
    if (k % 16 === 0) console.log('healthy:', selfTest(server.address().port))
  }
})
