// A registry does not answer one question; it is given up after a minute, and what is in the cache is taken.
const fs = require('fs')
const http = require('http')

if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`)
const registry = http.createServer((request, response) => { if (request.url !== '/14') response.end('v1') })

async function main () {
  await new Promise(resolve => registry.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${registry.address().port}/`
  for (let k = 0; k < 30; k++) {
    await new Promise(resolve => setTimeout(resolve, 200))
    try {
      await (await fetch(base + k, { signal: AbortSignal.timeout(60000) })).text()
      console.log(`model ${k} is current`)
    } catch (error) {
      console.log(`model ${k}: ${error.name}, from the cache`)
    }
  }
  process.exit(0)
}

main()
