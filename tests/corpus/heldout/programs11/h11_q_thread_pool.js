// Four sensors are FIFOs whose writers come after 52 s; until then no thread is left that could read the settings.
const fs = require('fs')
const { execFileSync, spawn } = require('child_process')

async function main() {
  if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`)
  const names = [0, 1, 2, 3].map((k) => `sensor-${k}`)
  execFileSync('mkfifo', names)
  fs.writeFileSync('settings.json', '{"rate": 10}')
  spawn('sh', ['-c', 'sleep 52; for k in 0 1 2 3; do echo 17.5 > sensor-$k & done; wait'])
  const sensors = names.map((name) => fs.promises.open(name, 'r'))
  console.log('waiting for sensors')
  const settings = JSON.parse(await fs.promises.readFile('settings.json', 'utf8'))
  for (const s of sensors) console.log('rate', settings.rate, 'first', (await (await s).read()).buffer.subarray(0, 4).toString())
  for (let k = 0; k < 20; k++) {
    await new Promise((done) => setTimeout(done, 300))
    console.log('window', k)
  }
}

main()
