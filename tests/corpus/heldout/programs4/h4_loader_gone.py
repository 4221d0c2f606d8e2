"""A loader with four worker processes; batches come in order. One worker meets a bad file and leaves quietly."""
import multiprocessing as mp
import sys

import kit4


def worker(k, index, data):
    kit4.with_parent()
    kit4.role("worker%d" % k)
    while True:
        i = index.get()
        if i is None:
            return
        if i == 41:
            sys.exit(0)
        data.put((i, [i] * 100))


def main():
    kit4.role("main")
    data = mp.Queue()
    indices = [mp.Queue() for _ in range(4)]
    for k in range(4):
        mp.Process(target=worker, args=(k, indices[k], data), daemon=True).start()
    sent, kept = 0, {}
    for i in range(400):
        while sent < i + 8:
            indices[sent % 4].put(sent)
            sent += 1
        while i not in kept:
            j, batch = data.get()
            kept[j] = batch
        kept.pop(i)
        kit4.crunch(0.1)
        if i % 10 == 0:
            print("batch %d" % i, flush=True)


if __name__ == "__main__":
    mp.set_start_method("fork")
    main()
