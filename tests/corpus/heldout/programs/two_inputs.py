"""Rank 1 selects over ranks 0 and 2; rank 2 waits for a signal."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import select
import signal

r = kit.rank()


def stand_by():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    signal.sigwait([signal.SIGUSR1])


def run():
    m = kit.Mesh()
    kit.services(2)
    for i in range(1000):
        kit.work(0.25)
        if r == 1:
            todo = {m.to[0], m.to[2]}
            while todo:
                for s in select.select(list(todo), [], [])[0]:
                    kit.take(s)
                    todo.discard(s)
            kit.put(m.to[0], i)
            kit.put(m.to[2], i)
        else:
            if r == 2 and i == 15:
                stand_by()
            kit.put(m.to[1], i)
            kit.take(m.to[1])
        if r == 0:
            kit.step(i)


kit.go(3, run, mesh=True)
