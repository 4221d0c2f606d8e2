"""Rank 0 has the table's lock and waits for rank 1's bytes; rank 1 wants the lock."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import multiprocessing as mp


def trainer(r, sock, guard):
    os.environ["RANK"] = str(r)
    kit.die_with_parent()
    kit.role("rank%d" % r)
    for i in range(1000):
        kit.work(0.3)
        if r == 0:
            if i == 15:
                with guard:
                    kit.take(sock)
            else:
                kit.take(sock)
                with guard:
                    pass
            kit.put(sock, i)
            kit.step(i)
        else:
            if i == 15:
                kit.work(0.5)
            with guard:
                pass
            kit.put(sock, i)
            kit.take(sock)


if __name__ == "__main__":
    import socket
    kit.role("main")
    ctx = mp.get_context("fork")
    a, b = socket.socketpair()
    guard = ctx.Lock()
    ps = [ctx.Process(target=trainer, args=(0, a, guard)), ctx.Process(target=trainer, args=(1, b, guard))]
    [p.start() for p in ps]
    [p.join() for p in ps]
