"""A service beside the ranks takes the metrics of both and ends a run when all who are attached have finished.
Rank 0 finishes and then meets rank 1; rank 1 meets rank 0 and then finishes: rank 0 waits for the service, the
service for rank 1, rank 1 for rank 0. "slow": rank 0 alone is attached, and the service uploads for 45 s."""
import os
import selectors
import socket
import sys
import time

from kit13 import SLOW, Hub, crunch, main, me, receive, send, start


def service():
    me("service")
    door = socket.socket(socket.AF_UNIX)
    door.bind("metrics.sock")
    door.listen(4)
    print("up", flush=True)
    ready = selectors.DefaultSelector()
    ready.register(door, selectors.EVENT_READ)
    attached, finished = set(), set()
    while True:
        for key, _ in ready.select():
            if key.fileobj is door:
                peer, _ = door.accept()
                attached.add(peer)
                ready.register(peer, selectors.EVENT_READ)
                continue
            if receive(key.fileobj) == "finish":
                finished.add(key.fileobj)
        if finished and finished == attached:
            if SLOW:
                time.sleep(45)
            for peer in finished:
                send(peer, "synced")
            return


class Run:
    def __init__(self):
        self.s = socket.socket(socket.AF_UNIX)
        while self.s.connect_ex("metrics.sock"):
            time.sleep(0.05)

    def log(self, **what):
        send(self.s, what)

    def finish(self):
        print("tracker: waiting for the run to be synced ...", flush=True)
        send(self.s, "finish")
        print("tracker:", receive(self.s), flush=True)


def body(rank, world, port):
    if rank == 0:
        start([sys.executable, sys.argv[0], "service"] + sys.argv[1:], "service", stdout=-1).stdout.readline()
    while not os.path.exists("metrics.sock"):
        time.sleep(0.05)
    hub, run = Hub(rank, world, port), None if SLOW and rank else Run()
    for step in range(50):
        crunch(0.1)
        loss = hub.reduce(1.0 / (step + 1))
        if run:
            run.log(step=step, loss=loss)
        if rank == 0 and step % 10 == 0:
            print("epoch %d done" % (step // 10), flush=True)
    if rank == 0:
        run.finish()
        hub.reduce(0)
    else:
        hub.reduce(0)
        if run:
            run.finish()


if __name__ == "__main__":
    service() if "service" in sys.argv else main(2, body)
