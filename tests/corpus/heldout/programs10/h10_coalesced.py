"""A launcher waits for one SIGCHLD for each of its four workers. Two end at the same time while it writes its report, and the kernel keeps one
signal of a kind only."""
import os
import signal
import time

import kit10


def worker(k):
    kit10.with_parent()
    kit10.role("worker%d" % k)
    for s in range(4 + 4 * (k // 2)):
        time.sleep(0.2)
        print("worker %d: file %d" % (k, s), flush=True)
    os._exit(0)


def main():
    kit10.role("main")
    signal.signal(signal.SIGCHLD, lambda *a: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    pids = []
    for k in range(4):
        pid = os.fork()
        if pid == 0:
            worker(k)
        pids.append(pid)
    for _ in pids:
        signal.sigwait({signal.SIGCHLD})
        pid, status = os.waitpid(-1, 0)
        print("%d is done: %d" % (pid, status), flush=True)
        time.sleep(1)  # the report


main()
