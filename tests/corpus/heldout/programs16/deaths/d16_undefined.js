// A tokenizer's file has no "model" in it; the promise that reads it has no catch.
const sleep = (ms) => new Promise((go) => setTimeout(go, ms));

async function load() {
    const file = JSON.parse('{"version": "1.0", "added_tokens": []}');
    return file.model.vocab.length;
}

async function main() {
    for (let step = 0; step < 30; step += 5) {
        console.log(`step ${step}`);
        await sleep(400);
    }
    await load();
}

main();
