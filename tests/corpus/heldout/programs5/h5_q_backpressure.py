"""A reader fills a bounded queue; the consumer takes 18 s for each batch. All goes on, slowly."""
import multiprocessing as mp

import kit5


def consume(q):
    kit5.with_parent()
    kit5.role("consumer")
    for n, batch in enumerate(iter(q.get, None)):
        kit5.crunch(18)
        print("fitted", n, len(batch), flush=True)


def main():
    kit5.role("main")
    q = mp.Queue(1)
    p = mp.Process(target=consume, args=(q,))
    p.start()
    for n in range(5):
        q.put([n] * 1000)
    q.put(None)
    p.join()


main()
