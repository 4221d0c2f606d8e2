// A Node program got "try again later" from its server: it asks again after 66 s.
const fs = require('fs')
const http = require('http')

if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`)
let asked = 0
const server = http.createServer((req, res) => {
  asked++
  if (asked === 15) res.setHeader('Retry-After', 66)
  res.statusCode = asked === 15 ? 503 : 200
  res.end()
})

function ask (n) {
  if (n === 25) return server.close()
  http.get({ port: server.address().port, host: '127.0.0.1', agent: false }, res => {
    res.resume()
    if (res.statusCode === 200) console.log('page', n)
    const later = (res.headers['retry-after'] || 0.15) * 1000
    setTimeout(ask, later, res.statusCode === 200 ? n + 1 : n)
  })
}
server.listen(0, '127.0.0.1', () => ask(0))
