// Four sensors are FIFOs, opened for reading before anybody writes there. Each waiting open has one of the four threads that do all of Node's work on files: the
// settings, a plain file, are never read, and who would write into the FIFOs is started after them.
const fs = require('fs')
const { execFileSync, spawn } = require('child_process')

function role(name, pid) {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`)
}

async function main() {
  role('main', process.pid)
  const names = [0, 1, 2, 3].map((k) => `sensor-${k}`)
  execFileSync('mkfifo', names)
  fs.writeFileSync('settings.json', '{"rate": 10}')
  const sensors = names.map((name) => fs.promises.open(name, 'r'))
  console.log('waiting for sensors')
  const settings = JSON.parse(await fs.promises.readFile('settings.json', 'utf8'))
  for (const name of names) spawn('sh', ['-c', `while sleep 0.${settings.rate}; do echo 1; done > ${name}`])
  for (const s of sensors) console.log((await (await s).read()).bytesRead)
}

main()
