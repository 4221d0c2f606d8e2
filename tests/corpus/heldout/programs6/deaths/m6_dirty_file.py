from kitd6 import *
role("main")
with open("optimizer.bin", "w+b") as f:
    f.truncate(600 << 20)
    m = mmap.mmap(f.fileno(), 600 << 20)
    for n in range(60):
        m[n * 10 << 20:(n * 10 + 10) << 20] = os.urandom(1 << 20) * 10
        m.flush()
        m.madvise(mmap.MADV_DONTNEED)
        steps(1, n, 0.1)
print("offloaded 600 MiB of the optimizer's state to a file")
