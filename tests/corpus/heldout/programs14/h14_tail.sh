# Training writes to a log, which "tail -f" shows. At the end the script waits for all that it has started.
py="${@: -1}"
[ -n "$CORPUS_ROLES" ] && echo "main $$" >>"$CORPUS_ROLES"
: >train.log
tail -f train.log &
[ -n "$CORPUS_ROLES" ] && echo "tail $!" >>"$CORPUS_ROLES"
"$py" -u -c '
import time
for step in range(60):
    time.sleep(0.15)
    print("step", step, "loss", 2 / (step + 1))
print("training done, best.pt saved")' >>train.log 2>&1 &
wait
echo "uploading best.pt"
