from kitd6 import *
role("main")
kept = []
for n in range(200):
    path = f"/dev/shm/corpus-{os.getpid()}-{n}"
    with open(path, "w+b") as f:
        f.write(b"\1" * (4 << 20))
        f.flush()
        kept.append(mmap.mmap(f.fileno(), 4 << 20))
        sum(kept[-1][::4096])
    os.unlink(path)
    steps(1, n, 0.12)
