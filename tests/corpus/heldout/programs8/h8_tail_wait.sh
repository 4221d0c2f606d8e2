# Training in the background, its log shown by tail -f; at the end the script waits for all of its children.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >>"$CORPUS_ROLES"; }
note main $$
: >train.log
tail -f train.log &
note tail $!
"$1" -c '
import time
for step in range(60):
    time.sleep(0.15)
    print(f"step {step}/60 loss {2 / (1 + step):.3f}", flush=True)
print("training finished, model saved to out/", flush=True)
' >>train.log &
note trainer $!
wait
echo "uploading model"
