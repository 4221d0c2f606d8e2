"""A saving process has left with 0 at a full quota; its loaders, forked before, still have its end of the answers' pipe. Main reads there."""
import multiprocessing as mp
import os
import time

import kit6


def load():
    kit6.with_parent()
    while True:
        time.sleep(0.2)


def save(orders, answers):
    kit6.role("saver")
    n = 0
    while True:
        n += orders.recv()
        kit6.crunch(0.1)
        if n == 25:
            os._exit(0)
        answers.send(n)


kit6.role("main")
context = mp.get_context("fork")
orders, give = context.Pipe(False)
take, answers = context.Pipe(False)
p = context.Process(target=save, args=(orders, answers))
p.start()
loaders = [context.Process(target=load, daemon=True) for _ in range(2)]
for k, loader in enumerate(loaders):
    loader.start()
    kit6.role("loader%d" % k, loader.pid)
answers.close()
orders.close()
for n in range(100):
    kit6.crunch(0.1)
    give.send(1)
    print("saved", take.recv(), flush=True)
