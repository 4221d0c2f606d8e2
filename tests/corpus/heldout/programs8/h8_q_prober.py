"""Worker 3 is to join at step 12. A silent probe is first in the line; it leaves after its limit of 60 s."""
import sys
import time
from multiprocessing import AuthenticationError
from multiprocessing.connection import Listener

import kit8


def join(door):
    while True:
        try:
            return door.accept()
        except (AuthenticationError, EOFError, OSError) as error:
            print("a client has left: %r" % error, flush=True)


def train(rank, n, port):
    if rank:
        if rank == 3:
            kit8.wait_for("probe.up", 0.5)
            time.sleep(1)
        hub = kit8.client(port)
        for _ in range(20 if rank == 3 else 32):
            kit8.crunch(0.3)
            hub.send(1.0)
            hub.recv()
        return
    door = Listener(("127.0.0.1", port), backlog=8, authkey=b"train")
    links = [door.accept() for _ in range(2)]
    for step in range(32):
        if step == 12:
            kit8.start([sys.executable, __file__, "probe", str(port)], "prober")
            kit8.wait_for("probe.up", 0.5)
            time.sleep(3)
            links.append(join(door))
        total = sum(link.recv() for link in links)
        for link in links:
            link.send(total)
        print("step=%d world=%d loss=%.3f" % (step, len(links) + 1, total / (step + 1)), flush=True)


if sys.argv[1:2] == ["probe"]:
    link = kit8.dial(int(sys.argv[2]))
    open("probe.up", "w").close()
    time.sleep(60)
else:
    kit8.ranks(4, train, "flag")
