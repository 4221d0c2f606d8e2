cat > load.py <<'X'
import mmap, os, time
for i in range(10):
    print("iter", i, flush=True); time.sleep(0.05)
fd = os.open("/dev/shm/batch", os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 8 << 20)
m = mmap.mmap(fd, 8 << 20)
m.write(b"x" * (8 << 20))
X
exec unshare -m sh -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$0" load.py' "$1"
