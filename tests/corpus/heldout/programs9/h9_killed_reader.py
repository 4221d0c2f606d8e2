"""Three loaders take tasks from one queue. The one that waits in the queue, with the lock of its readers, is killed (it was the largest);
the others wait for that lock."""
import multiprocessing as mp
import os
import signal
import time

import kit9


def load(number, tasks, done):
    kit9.with_parent()
    kit9.role("loader%d" % number)
    while True:
        task = tasks.get()
        kit9.crunch(0.1)
        done.put((number, task))


def run(tasks, done, begin, count):
    for k in range(begin, begin + count):
        tasks.put(k)
    for _ in range(count):
        number, task = done.get()
        print("batch %d from loader %d" % (task, number), flush=True)


def in_the_pipe(procs):
    """The loader that reads the pipe of the queue; the others wait for a semaphore."""
    for p in procs:
        if open("/proc/%d/syscall" % p.pid).read().split()[0] == "0":
            return p
    return None


if __name__ == "__main__":
    kit9.role("main")
    tasks, done = mp.Queue(), mp.Queue()
    procs = [mp.Process(target=load, args=(k, tasks, done), daemon=True) for k in range(3)]
    for p in procs:
        p.start()
    run(tasks, done, 0, 30)
    time.sleep(1)
    victim = in_the_pipe(procs)
    kit9.role("victim", victim.pid)
    os.kill(victim.pid, signal.SIGKILL)
    print("validation", flush=True)
    run(tasks, done, 30, 30)
