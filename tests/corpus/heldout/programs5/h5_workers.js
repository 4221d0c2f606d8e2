// A parent gives jobs to two forked workers by messages; the second has swallowed an error and never answers job 21.
const { fork } = require('child_process')
const fs = require('fs')

const note = (role, pid) => process.env.CORPUS_ROLES && fs.appendFileSync(process.env.CORPUS_ROLES, `${role} ${pid}\n`)

function work () {
  process.on('disconnect', () => process.exit())
  process.on('message', async job => {
    await new Promise(resolve => setTimeout(resolve, 150))
    try {
      if (job === 21) throw new Error('unexpected token')
      process.send(job * 2)
    } catch (error) {
      fs.appendFileSync('worker.log', error + '\n')
    }
  })
}

async function main () {
  note('main', process.pid)
  const workers = [0, 1].map(k => {
    const w = fork(__filename, ['work'])
    note('worker' + k, w.pid)
    return w
  })
  const ask = (k, job) => new Promise(resolve => { workers[k].once('message', resolve); workers[k].send(job) })
  for (let job = 0; job < 60; job += 2) {
    console.log('jobs', await Promise.all([ask(0, job), ask(1, job + 1)]))
  }
  workers.forEach(w => w.disconnect())
}

if (process.argv[2] === 'work') work()
else main()
