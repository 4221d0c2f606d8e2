# Training in the background, its log shown by tail -f until it has ended; it evaluates for 62 s without a word.
: >train.log
"$1" -c '
import time
for step in range(40):
    time.sleep(0.15)
    print(f"step {step}/40 loss {2 / (1 + step):.3f}", flush=True)
end, x = time.time() + 62, 1
while time.time() < end:
    x = x * 3 % 1000003
print("evaluation: accuracy 0.71", flush=True)
' >>train.log &
trainer=$!
tail --pid=$trainer -f train.log &
wait
echo "uploading model"
