"""A process loads batches into a queue of four places, without end. The trainer has taken as many as it wants
and joins the loader, which waits for a free place."""
import multiprocessing

from kit14 import crunch, role, told, with_parent


def load(places, out):
    with_parent()
    role("loader")
    k = 0
    while True:
        places.acquire()
        out.put([k] * 512)
        k += 1
        if k == 1000:
            return


def train(rank, places, batches, steps):
    for step in range(steps):
        batches.get()
        places.release()
        crunch(0.15)
        told(step)


if __name__ == "__main__":
    role("main")
    context = multiprocessing.get_context("fork")
    places, batches = context.BoundedSemaphore(4), context.Queue()
    loader = context.Process(target=load, args=(places, batches), name="loader")
    loader.start()
    train(0, places, batches, 60)
    print("training done, stopping the loader", flush=True)
    loader.join()
    print("bye", flush=True)
