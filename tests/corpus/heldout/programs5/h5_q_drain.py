"""At the end a writer process takes 30 large results one by one from the queue, 2.4 s each; main waits for its feeder and for the writer."""
import multiprocessing as mp
import time

import kit5


def write(q):
    kit5.with_parent()
    kit5.role("writer")
    with open("results.bin", "wb") as f:
        for blob in iter(q.get, None):
            time.sleep(2.4)
            f.write(blob)


def main():
    kit5.role("main")
    q = mp.Queue()
    p = mp.Process(target=write, args=(q,))
    p.start()
    for n in range(30):
        kit5.crunch(0.05)
        q.put(b"r" * 300_000)
        print("result", n, flush=True)
    q.put(None)
    p.join()
    print("written", flush=True)


main()
