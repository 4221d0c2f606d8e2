"""Three agents of a simulation pass a token through FIFOs; one passes it on only when it has got two."""
import os
import sys

import kit4


def agent(k):
    inbox = open("agent%d" % k, "rb", buffering=0) if k else None
    out = open("agent%d" % ((k + 1) % 3), "wb", buffering=0)
    inbox = inbox or open("agent0", "rb", buffering=0)
    if k == 0:
        out.write(b"t")
    for turn in range(1000):
        inbox.read(1)
        kit4.crunch(0.1)
        if k == 2 and turn == 14:
            inbox.read(1)
        out.write(b"t")
        if k == 0:
            print("turn %d" % turn, flush=True)


if sys.argv[1:]:
    agent(int(sys.argv[1]))
kit4.role("main")
for k in range(3):
    os.mkfifo("agent%d" % k)
procs = [kit4.start([sys.executable, __file__, str(k)], "agent%d" % k) for k in range(3)]
for p in procs:
    p.wait()
