from kitd6 import *
role("main")
p = subprocess.Popen(["sort", "-S", "3G", "--parallel=1"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
role("sort", p.pid)
for n in range(900):
    p.stdin.write(b"".join(b"%08x %0120d\n" % (k * 2654435761 % 2**32, k) for k in range(n * 20000, n * 20000 + 20000)))
    p.stdin.flush()
    steps(1, n, 0.05)
