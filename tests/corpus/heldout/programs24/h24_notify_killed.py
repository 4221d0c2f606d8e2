"""A training with three loading processes that it holds by an Event while it validates. One has taken too much memory and
is killed while it is held; a new one takes its place. To set the Event is to wait until each one that waited for it has
said that it is awake."""
import multiprocessing
import os
import signal
import time

from kit24 import crunch, role, told, with_parent


def load(name, go, batches):
    with_parent()
    role(name)
    while True:
        go.wait()
        crunch(0.3)
        batches.put(name)


def validate(step):
    time.sleep(0.8)
    return 1 / (1 + step)


def hold(go, step, loaders):
    go.clear()
    validate(step)
    if step == 36:
        os.kill(loaders["loader1"].pid, signal.SIGKILL)
        loaders["loader1"].join()
    resume(go)


def resume(go):
    go.set()


def train():
    role("main")
    context = multiprocessing.get_context("fork")
    go, batches, loaders = context.Event(), context.Queue(), {}
    go.set()
    for k in range(3):
        name = "loader%d" % k
        loaders[name] = context.Process(target=load, args=(name, go, batches), name=name, daemon=True)
        loaders[name].start()
    for step in range(500):
        batches.get()
        crunch(0.1)
        if step % 12 == 0:
            hold(go, step, loaders)
        told(step, 1 / (1 + step))


train()
