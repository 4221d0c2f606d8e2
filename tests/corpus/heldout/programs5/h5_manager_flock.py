"""One worker has the Manager's lock and wants the file's, the other has the file's and wants the Manager's."""
import fcntl
import multiprocessing as mp

import kit5


def merge(lock, name, n_first, rounds):
    kit5.with_parent()
    kit5.role(name)
    f = open("merged.idx", "w")
    for n in range(rounds):
        if name == "merger" or n < n_first:
            with lock:
                kit5.crunch(0.2)
                fcntl.flock(f, fcntl.LOCK_EX)
                kit5.crunch(0.05)
                fcntl.flock(f, fcntl.LOCK_UN)
        else:
            fcntl.flock(f, fcntl.LOCK_EX)
            kit5.crunch(0.3)
            with lock:
                kit5.crunch(0.05)
            fcntl.flock(f, fcntl.LOCK_UN)
        print(name, "has merged", n, flush=True)


def main():
    kit5.role("main")
    manager = mp.Manager()
    kit5.role("manager", manager._process.pid)
    lock = manager.Lock()
    procs = [mp.Process(target=merge, args=(lock, name, 8, 1000)) for name in ("merger", "compactor")]
    for p in procs:
        p.start()
    for p in procs:
        p.join()


main()
