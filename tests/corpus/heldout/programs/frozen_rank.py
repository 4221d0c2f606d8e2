"""One rank is paused. Args: ranks, which, services, copies."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import signal

N, WHICH, SRV, COPIES = map(int, sys.argv[1:5])


def run():
    comm = kit.Ring()
    if SRV:
        kit.services(SRV)
    if COPIES:
        kit.copies()
    for i in range(1000):
        kit.work(0.25)
        if i == 15 and kit.rank() == WHICH:
            os.kill(os.getpid(), signal.SIGSTOP)
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(N, run)
