cat > train.py <<'X'
import os, time
open(os.environ["CORPUS_ROLES"], "a").write(f"train {os.getpid()}\n")
for i in range(400):
    print("iter", i, "loss", 3 / (i + 1), flush=True); time.sleep(0.05)
X
"$1" train.py
echo "run.sh: train.py exited with $?" >&2
exit 1
