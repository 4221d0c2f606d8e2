// A driver in Node sends prompts to a model's process. It read that one's first line, "ready", by readline and closed that, which
// pauses the stream: the answers stay in the pipe until that is full, then the model stands in its write, the driver at "drain".
//
// slow: the stream goes on; a prompt takes the model 66 s.
const { spawn } = require('child_process');
const { appendFileSync } = require('fs');
const { once } = require('events');
const readline = require('readline');

const slow = process.argv.includes('slow');
const role = (name, pid) => process.env.CORPUS_ROLES && appendFileSync(process.env.CORPUS_ROLES, `${name} ${pid}\n`);
const model = `
import sys, time
print("ready", flush=True)
for k, line in enumerate(sys.stdin):
    time.sleep(66 if ${slow ? 'True' : 'False'} and k == 90 else 0.15)
    print("answer %d " % k + "token " * 200, flush=True)
`;

async function main() {
  role('main', process.pid);
  const child = spawn('python3', ['-c', model], { stdio: ['pipe', 'pipe', 'inherit'] });
  role('model', child.pid);
  const lines = readline.createInterface({ input: child.stdout });
  await once(lines, 'line');
  lines.close();
  if (slow) child.stdout.resume();
  for (let step = 0; step < (slow ? 110 : 3000); step++) {
    if (!child.stdin.write('prompt ' + step + ' word'.repeat(3000) + '\n')) await once(child.stdin, 'drain');
    if (step % 10 === 0) console.log(`prompt ${step} sent`);
  }
  child.stdin.end();
  await once(child, 'exit');
}
main();
