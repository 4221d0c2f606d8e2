note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note script $$
export TASK='
import os, sys, time
n = sys.argv[1]
open(os.environ.get("CORPUS_ROLES", os.devnull), "a").write("%s %d\n" % ("grower" if n == "3" else "task", os.getpid()))
kept = [os.urandom(1 << 20) * 60]
for k in range(400 if n == "3" else 20):
    if n == "3":
        kept.append(os.urandom(1 << 20) * 4)
    print("task", n, "row", k, flush=True)
    time.sleep(0.12)'
seq 6 | xargs -P 1 -I@ "$1" -c "$TASK" @
