// Sends rows to a child as long as write() says so; the child answers each row, and nobody reads the answers until all is sent.
const { spawn } = require('child_process')
const { once } = require('events')
const fs = require('fs')

const note = (role, pid) => process.env.CORPUS_ROLES && fs.appendFileSync(process.env.CORPUS_ROLES, `${role} ${pid}\n`)

async function lot (size) {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
  note('child', child.pid)
  for (let k = 0; k < size; k++) {
    if (!child.stdin.write('x'.repeat(2000) + '\n')) await once(child.stdin, 'drain')
  }
  child.stdin.end()
  let got = 0
  for await (const part of child.stdout) got += part.length
  return got
}

async function main () {
  note('main', process.pid)
  for (let n = 0; n < 12; n++) {
    console.log('lot', n, await lot(n < 9 ? 5 : 2000))
    await new Promise(resolve => setTimeout(resolve, 300))
  }
}

main()
