"""Records go over TCP to a log server by a logging handler. The server waits for its disk's lock."""
import fcntl
import logging
import os
import sys
import threading

import kit4


def serve(port):
    door = kit4.listen(port)
    s, _ = door.accept()
    out = open("all.log", "ab")
    n = 0
    while True:
        data = s.recv(65536)
        out.write(data)
        n += len(data)
        if n > 300_000:
            with open("rotate.lock", "w") as f:
                fcntl.flock(f, fcntl.LOCK_EX)


def rotate():
    with open("rotate.lock", "w") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        threading.Event().wait()


class Remote(logging.Handler):
    def __init__(self, port):
        super().__init__()
        self.sock = kit4.dial(port)

    def emit(self, record):
        self.sock.sendall(self.format(record).encode() + b"\n")


def batches(k):
    for i in range(100000):
        logging.info("loader %d batch %d %s", k, i, "x" * 20000)
        kit4.crunch(0.02)


def main():
    port = kit4.free_port()
    kit4.role("main")
    kit4.start([sys.executable, __file__, "rotate"], "rotator")
    while not os.path.exists("rotate.lock"):
        pass
    kit4.start([sys.executable, __file__, "serve", str(port)], "logserver")
    logging.basicConfig(level=logging.INFO, handlers=[Remote(port)])
    for k in range(3):
        threading.Thread(target=batches, args=(k,), name="loader-%d" % k, daemon=True).start()
    for step in range(1000):
        kit4.crunch(0.2)
        logging.info("step %d loss %.3f %s", step, 1 / (step + 1), "y" * 1000)


serve(int(sys.argv[2])) if sys.argv[1:2] == ["serve"] else rotate() if sys.argv[1:] == ["rotate"] else main()
