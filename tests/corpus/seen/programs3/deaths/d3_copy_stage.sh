set -e
cat > prep.py <<'X'
import time
for i in range(12):
    print("tokenized shard", i, flush=True); time.sleep(0.05)
X
"$1" prep.py
head -c 65536 /dev/zero > part.bin
cp part.bin /dev/full
echo "uploaded"
