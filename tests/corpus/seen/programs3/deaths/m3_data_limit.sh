ulimit -d 400000
cat > load.py <<'X'
import time
kept = []
for i in range(400):
    print("shard", i, flush=True); kept.append(bytearray(4 << 20)); time.sleep(0.01)
X
"$1" load.py
