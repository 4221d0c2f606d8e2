"""Three processes of a preparation share a dict and a lock of a Manager. One is killed while it has the lock (the guard of
memory); the others ask the manager for it, for ever."""
import multiprocessing
import os
import sys

from kit25 import STALL, STEPS, Log, crunch, role, with_parent


def count(which, lock, counts, done):
    with_parent()
    role("counter%d" % which)
    for step in range(STEPS):
        crunch(0.2)
        with lock:
            counts["the"] = counts.get("the", 0) + 1
            if which == 2 and step == STALL:
                os.kill(os.getpid(), 9)
        done.put(step)


def prepare():
    role("main")
    context = multiprocessing.get_context("fork")
    with context.Manager() as manager:
        role("manager", manager._process.pid)
        lock, counts, done, log = manager.Lock(), manager.dict(), context.Queue(), Log("bar", "count")
        for which in range(3):
            context.Process(target=count, args=(which, lock, counts, done), daemon=True).start()
        for step in range(3 * STEPS):
            done.get()
            if step % 3 == 0:
                log(step // 3, 1.0)


sys.exit(prepare())
