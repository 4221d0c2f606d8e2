"""Workers share one queue. A watchdog ends the worker that uses most memory while it waits in get(), with the queue's lock."""
import multiprocessing as mp
import os
import signal
import time

import kit5


def work(tasks, results, k):
    kit5.with_parent()
    kit5.role("worker%d" % k)
    heap = bytearray(90 << 20) if k == 0 else b""
    for task in iter(tasks.get, None):
        kit5.crunch(0.1)
        results.put((task, len(heap)))


def rss(pid):
    return int(open("/proc/%d/statm" % pid).read().split()[1])


def main():
    kit5.role("main")
    tasks, results = mp.Queue(), mp.Queue()
    pool = [mp.Process(target=work, args=(tasks, results, k)) for k in range(3)]
    pool[0].start()
    while rss(pool[0].pid) < (90 << 20) // 4096 or "read" not in open("/proc/%d/wchan" % pool[0].pid).read():
        time.sleep(0.1)
    for p in pool[1:]:
        p.start()
    time.sleep(1)
    big = max(pool, key=lambda p: rss(p.pid))
    print("memory is short: ending worker", big.name, flush=True)
    os.kill(big.pid, signal.SIGKILL)
    for n in range(40):
        tasks.put(n)
    for n in range(40):
        print("sample", results.get()[0], flush=True)


main()
