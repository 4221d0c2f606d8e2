"""Rank 1 saves in the background; the saving thread wants the model's lock, which the trainer holds while it waits for it."""
import concurrent.futures
import threading

import kit4


def train(rank, world, port):
    ring = kit4.Ring(rank, world, port)
    saver, lock, model = concurrent.futures.ThreadPoolExecutor(1), threading.Lock(), [0.0] * 1000

    def save(step):
        with lock:
            open("model-%d.ckpt" % rank, "w").write("%d %r" % (step, model[:10]))
    for i in range(300):
        kit4.crunch(0.2)
        with lock:
            model[0] += ring.reduce(0.5)
        if i % 5 == 4:
            saver.submit(save, i)
        if rank == 1 and i == 16:
            with lock:  # the best one so far: be sure that it is on the disk
                saver.submit(save, i).result()
        if rank == 0 and i % 2 == 0:
            print("step %d, loss %.3f" % (i, 1 / (i + 1)), flush=True)


kit4.main(4, train)
