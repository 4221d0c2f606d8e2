"""A power manager stops rank 1 for nine seconds out of eleven, again and again; the job goes on in jerks."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import signal
import time


def manager(pidfile):
    while not os.path.exists(pidfile):
        time.sleep(0.2)
    pid = int(open(pidfile).read())
    time.sleep(4)
    try:
        for _ in range(5):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(kit.secs(9))
            os.kill(pid, signal.SIGCONT)
            time.sleep(2)
    except OSError:
        pass


def run():
    group = kit.Ring()
    if kit.RANK == 1:
        with open(kit.tmp("p.new"), "w") as f:
            f.write(str(os.getpid()))
        os.rename(kit.tmp("p.new"), kit.tmp("pid"))
    for i in range(80):
        time.sleep(0.3)
        group.barrier()
        if kit.RANK == 0 and i % 4 == 0:
            kit.log(i, "meter")


kit.main(3, run, lambda: kit.fork_child("power", manager, kit.tmp("pid")) and None)
