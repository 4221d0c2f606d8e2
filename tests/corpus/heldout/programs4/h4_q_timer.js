// Polls a queue service with a wait of twenty seconds, three times empty, and then ends.
let turn = 0;
console.log('worker is up');
function poll() {
  if (++turn > 3) {
    console.log('no more work');
    return;
  }
  setTimeout(poll, 21000);
}
poll();
