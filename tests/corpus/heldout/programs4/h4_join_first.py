"""Embeddings are computed by a child; the parent waits for its end before it takes them from the queue."""
import multiprocessing as mp

import kit4


def embed(part, out):
    kit4.with_parent()
    kit4.role("child")
    kit4.crunch(0.5)
    out.put([float(part)] * (60000 if part == 6 else 300))


if __name__ == "__main__":
    kit4.role("main")
    context = mp.get_context("fork")
    out = context.Queue()
    for part in range(20):
        p = context.Process(target=embed, args=(part, out))
        p.start()
        p.join()
        print("part %d: %d numbers" % (part, len(out.get())), flush=True)
