cat > save.py <<'X'
import time
for i in range(10):
    print("iter", i, flush=True); time.sleep(0.05)
with open("disk/last.ckpt", "wb") as f:
    for i in range(64):
        f.write(b"x" * 65536)
X
mkdir disk
exec unshare -m sh -c 'mount -t tmpfs -o size=1m tmpfs disk && exec "$0" save.py' "$1"
