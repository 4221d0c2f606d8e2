"""Seven ranks in a binary tree; a leaf waits for an event of its own augmentation thread, which died."""
import os
import sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import kit
import socket
import sys
import threading
import time


def links():
    up, kids = None, []
    srv = socket.socket(socket.AF_UNIX)
    srv.bind(kit.tmp(f"t{kit.RANK}"))
    srv.listen(4)
    if kit.RANK:
        while True:
            up = socket.socket(socket.AF_UNIX)
            try:
                up.connect(kit.tmp(f"t{(kit.RANK - 1) // 2}"))
                break
            except OSError:
                up.close()
                time.sleep(0.05)
    for c in (2 * kit.RANK + 1, 2 * kit.RANK + 2):
        if c < kit.WORLD:
            kids.append(srv.accept()[0])
    return up, kids


def reduce_tree(up, kids, v):
    for k in kids:
        v += kit.recv_msg(k)
    if up:
        kit.send_msg(up, v)
        v = kit.recv_msg(up)
    for k in kids:
        kit.send_msg(k, v)
    return v


class Augment(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.ready = threading.Event()
        self.want = threading.Event()

    def run(self):
        n = 0
        while True:
            self.want.wait()
            self.want.clear()
            n += 1
            if n == 14 and kit.RANK == 5:
                sys.stderr.write("augment: bad picture 8812, giving up\n")
                return
            self.ready.set()

    def batch(self):
        self.ready.clear()
        self.want.set()
        self.ready.wait()


def run():
    kit.services(1)
    up, kids = links()
    a = Augment()
    a.start()
    for i in range(1000):
        a.batch()
        time.sleep(0.25)
        v = reduce_tree(up, kids, 1)
        if kit.RANK == 0:
            kit.step(i, 1 / (v + i))


kit.main(7, run)
