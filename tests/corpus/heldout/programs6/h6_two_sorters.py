"""Two sort processes of one parent. The second one has inherited the write end of the first one's input, so that the first never sees its end."""
import os
import subprocess

import kit6

kit6.role("main")
a, b = os.pipe(), os.pipe()
for fd in a + b:
    os.set_inheritable(fd, True)  # as a wrapper of an old interpreter did
sorters = [kit6.start(["sort"], "sort%d" % k, stdin=p[0], stdout=subprocess.DEVNULL, close_fds=False) for k, p in enumerate((a, b))]
for n in range(30):
    kit6.crunch(0.1)
    for p in (a, b):
        os.write(p[1], b"%d\n" % (n * 7919 % 1000))
    print("row", n, flush=True)
for p, fds in zip(sorters, (a, b)):
    for fd in fds:
        os.close(fd)
    p.wait()
    print("sorted", flush=True)
