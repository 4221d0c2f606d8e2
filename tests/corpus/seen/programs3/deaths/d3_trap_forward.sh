cat > train.py <<'X'
import time, sys, signal
signal.signal(signal.SIGTERM, lambda *a: (print("got the signal, saved last.ckpt", flush=True), sys.exit(0)))
for i in range(400):
    print("iter", i, "loss", 3 / (i + 1), flush=True); time.sleep(0.05)
X
"$1" train.py & p=$!
trap 'kill -TERM $p; wait $p; exit 143' TERM
echo "main $$" >> "$CORPUS_ROLES"
wait $p
