// Evaluates checkpoints in child processes, told by messages: a child sends its score when it is done. Main waits for
// the exit of the child before the next one. The newer child listens for messages, and nobody disconnects it: it stays.
const { fork } = require('child_process');
const fs = require('fs');

function toldRole(name, pid) {
    if (process.env.CORPUS_ROLES) fs.appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
}

const sleep = (ms) => new Promise((go) => setTimeout(go, ms));

function evaluate(checkpoint) {
    return new Promise((done) => {
        const child = fork(__filename, ['child', checkpoint]);
        let score = null;
        toldRole('evaluator', child.pid);
        child.on('message', (m) => { score = m.score; });
        child.on('exit', () => done(score));
    });
}

async function main() {
    toldRole('main', process.pid);
    for (let step = 0; step < 300; step++) {
        await sleep(180);
        if (step % 5 === 0) console.log(`step ${step}`);
        if (step % 15 === 14) await evaluate(step);
    }
}

if (process.argv[2] === 'child') {
    if (Number(process.argv[3]) > 30) process.on('message', (m) => { if (m === 'stop') process.exit(1); });
    sleep(300).then(() => process.send({ score: 0.7 }));
} else {
    main();
}
