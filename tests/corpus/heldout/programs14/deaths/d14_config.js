// The configuration is read anew every epoch; somebody has left a comma in it.
const fs = require('fs');

fs.writeFileSync('config.json', '{"lr": 0.1}');
let step = 0;

function train() {
  if (step === 60) fs.writeFileSync('config.json', '{"lr": 0.01,}');
  if (step % 10 === 0) JSON.parse(fs.readFileSync('config.json', 'utf8'));
  if (step % 5 === 0) console.log(`step ${step}`);
  step += 1;
  setTimeout(train, 100);
}

train();
