"""Two ranks have finished. Rank 1 does not end: a thread of its pool still waits for the next sample of a stream that nobody fills any more."""
import concurrent.futures
import queue

import kit7


def collect(stream):
    return [sample for sample in iter(stream.get, None)]


def train(rank, world, port):
    line, stream = kit7.Line(rank, world, port), queue.Queue()
    pool = concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="collect")
    pool.submit(collect, stream)
    for step in range(20):
        kit7.crunch(0.2)
        stream.put(step)
        line.reduce()
        if rank == 0:
            print("%3d/20 [%s]" % (step + 1, "=" * (step + 1)), flush=True)
    print("rank %d: training finished in 4.1 s" % rank, flush=True)
    if rank == 0:
        stream.put(None)


kit7.ranks(2, train)
