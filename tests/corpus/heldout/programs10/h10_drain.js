// Writes shards through a stream and waits for 'drain' after each, also after those that it took at once: then no drain comes.
const fs = require('fs')
const net = require('net')
const { once } = require('events')

if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `main ${process.pid}\n`)
const metrics = net.createServer(c => c.end())
metrics.listen(0, '127.0.0.1')

async function main () {
  const out = fs.createWriteStream('shards.bin', { highWaterMark: 1 << 14 })
  for (let k = 0; k < 40; k++) {
    const shard = Buffer.alloc(k === 11 ? 300 : 1 << 15, k)
    out.write(shard)
    await once(out, 'drain')
    console.log(`shard ${k} written, ${shard.length} bytes`)
    await new Promise(resolve => setTimeout(resolve, 150))
  }
  metrics.close()
}

main()
