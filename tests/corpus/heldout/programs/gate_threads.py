"""Three threads of rank 3 meet in a barrier; one has died of an error."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import threading

gate = threading.Barrier(3)


def part(k):
    try:
        for i in range(1000):
            if k == 1 and i == 14 and kit.rank() == 3:
                raise OSError("shard gone")
            gate.wait()
    except OSError:
        pass


def run():
    comm = kit.Ring()
    for k in range(2):
        threading.Thread(target=part, args=(k,), daemon=True).start()
    for i in range(1000):
        kit.work(0.25)
        gate.wait()
        comm.all_reduce(1)
        if kit.rank() == 0:
            kit.step(i)


kit.go(4, run)
