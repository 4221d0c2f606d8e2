"""Worker 3 is to join at step 15. A probe of the monitoring has connected first and says nothing, worker 0 waits for its answer to the challenge."""
import sys
import time
from multiprocessing.connection import Listener

import kit8


def probe(port):
    link = kit8.dial(port)
    open("probe.up", "w").close()
    time.sleep(10 ** 6)
    link.close()


def train(rank, n, port):
    if rank:
        if rank == 3:
            kit8.wait_for("probe.up", 0.5)
            time.sleep(1)
        hub = kit8.client(port)
        while True:
            kit8.crunch(0.3)
            hub.send(1.0)
            hub.recv()
    door = Listener(("127.0.0.1", port), backlog=8, authkey=b"train")
    links = [door.accept() for _ in range(2)]
    for step in range(1000):
        total = sum(link.recv() for link in links)
        if step == 15:
            kit8.start([sys.executable, __file__, "probe", str(port)], "prober")
            kit8.wait_for("probe.up", 0.5)
            time.sleep(3)
            print("waiting for worker 3 to join", flush=True)
            links.append(door.accept())
        for link in links[:2]:
            link.send(total)
        print("step=%d world=%d loss=%.3f" % (step, len(links) + 1, total / (step + 1)), flush=True)


if sys.argv[1:2] == ["probe"]:
    probe(int(sys.argv[2]))
else:
    kit8.ranks(4, train, "flag")
