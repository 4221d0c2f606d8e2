// An HTTP server; a child asks it a few times, then again after 68 s.
const http = require('http')
const { spawn } = require('child_process')
const fs = require('fs')

const note = (role, pid) => process.env.CORPUS_ROLES && fs.appendFileSync(process.env.CORPUS_ROLES, `${role} ${pid}\n`)
const ask = `
const http = require('http')
const pause = ms => new Promise(resolve => setTimeout(resolve, ms))
const get = () => new Promise(resolve => http.get({ port: process.argv[1], agent: false }, a => a.resume().on('end', resolve)))
;(async () => { for (const ms of [200, 200, 200, 68000, 200]) { await pause(ms); await get() } })()`

let served = 0
const server = http.createServer((request, answer) => {
  console.log('request', served++)
  answer.end('ok')
  if (served === 5) server.close()
})
note('main', process.pid)
server.listen(0, '127.0.0.1', () => {
  const child = spawn(process.execPath, ['-e', ask.replace('port:', "host: '127.0.0.1', port:"), server.address().port])
  note('client', child.pid)
})
