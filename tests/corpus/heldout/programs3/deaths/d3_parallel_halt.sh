cat > one.py <<'X'
import sys, time
for i in range(10):
    print("shard", sys.argv[1], i, flush=True); time.sleep(0.05)
if sys.argv[1] == "2":
    raise ValueError("shard 2: token 50304 is out of the vocabulary")
X
parallel --will-cite --halt now,fail=1 -j3 "$1" one.py ::: 1 2 3
