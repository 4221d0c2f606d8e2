"""Parent and worker both receive."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp


class Remote:
    def __init__(self, conn):
        self.conn = conn

    def ask(self, x):
        self.conn.send(x)
        return self.conn.recv()

    def flush(self):
        return self.conn.recv()


def worker_main(conn):
    kit.die_with_parent()
    kit.role("worker")
    while True:
        conn.send(conn.recv() * 2)


if __name__ == "__main__":
    kit.role("main")
    a, b = mp.Pipe()
    p = mp.get_context("fork").Process(target=worker_main, args=(b,), daemon=True)
    p.start()
    rem = Remote(a)
    kit.services(3)
    for i in range(16):
        kit.work(0.3)
        rem.ask(i)
        kit.step(i)
    rem.flush()
