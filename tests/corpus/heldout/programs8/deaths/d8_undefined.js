// An answer without choices.
let n = 0;
const ask = () => {
  console.log(`prompt ${n++}`);
  const answer = n < 12 ? { choices: [{ text: "ok" }] } : { error: "busy" };
  answer.choices[0].text.trim();
  setTimeout(ask, 120);
};
ask();
