"""Ranks by xargs, sums by a process. The thread that decodes for rank 2 has swallowed an error and left; nobody fills its queue."""
import queue
import threading

import kit6


def decode(rank, out):
    try:
        for n in range(10**6):
            if rank == 2 and n == 25:
                raise ValueError("corrupt JPEG: premature end of data segment")
            out.put(n)
    except Exception as error:
        print("warning: skipped", error, flush=True)


def train(rank, world, port):
    batches, total = queue.Queue(4), kit6.Reducer()
    threading.Thread(target=decode, args=(rank, batches), daemon=True).start()
    for step in range(1000):
        batches.get()
        kit6.crunch(0.15)
        loss = total.sum("grad/%d" % step)
        if rank == 0:
            print("step=%d loss=%.3f" % (step, loss / (step + 2)), flush=True)


kit6.reducer(4)
kit6.ranks(4, train)
