"""Loader workers with a queue of indices each; batches are wanted in order. Worker 1 wrote an error to its log and gave no batch for index 21."""
import multiprocessing as mp

import kit6


def load(k, indices, out):
    kit6.with_parent()
    kit6.role("loader%d" % k)
    log = open("loader%d.log" % k, "w", 1)
    for n in iter(indices.get, None):
        try:
            kit6.crunch(0.2)
            if n == 21:
                raise ValueError("image has 4 channels")
            out.put((n, n * n))
        except ValueError as error:
            print(n, error, file=log)


def batches(total):
    context = mp.get_context("fork")
    indices, out, have = [context.Queue() for _ in range(2)], context.Queue(), {}
    for k in range(2):
        context.Process(target=load, args=(k, indices[k], out), daemon=True).start()
    for n in range(total):
        for ahead in ([n + 4] if n else range(5)):
            indices[ahead % 2].put(ahead)
        while n not in have:
            got, value = out.get()
            have[got] = value
        yield have.pop(n)


kit6.role("main")
for step, batch in enumerate(batches(1000)):
    print("train | step %d | batch %d" % (step, batch), flush=True)
