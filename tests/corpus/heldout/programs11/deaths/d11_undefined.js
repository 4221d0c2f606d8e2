// An answer without choices is taken apart in a promise that nobody catches.
async function complete(k) {
  await new Promise((done) => setTimeout(done, 150))
  return k < 9 ? { choices: [{ text: 'yes' }] } : { error: { code: 'content_filter' } }
}

async function main() {
  for (let k = 0; ; k++) {
    const answer = await complete(k)
    console.log(`prompt ${k}: ${answer.choices[0].text}`)
  }
}

main()
