"""Producers put into a bounded queue of a Manager; the only consumer ended with an unreadable message, which it told its log."""
import multiprocessing as mp

import kit5


def consume(q):
    kit5.with_parent()
    kit5.role("consumer")
    for n in range(1000):
        item = q.get()
        kit5.crunch(0.05)
        if item > 30:
            open("consumer.log", "w").write("item %d: schema version 2 is not supported\n" % item)
            return


def produce(q, k):
    kit5.with_parent()
    kit5.role("producer%d" % k)
    for n in range(200):
        kit5.crunch(0.1)
        q.put(n)


def main():
    kit5.role("main")
    manager = mp.Manager()
    kit5.role("manager", manager._process.pid)
    q = manager.Queue(8)
    procs = [mp.Process(target=consume, args=(q,))] + [mp.Process(target=produce, args=(q, k)) for k in range(2)]
    for p in procs:
        p.start()
    for p in procs[1:]:
        p.join()
    print("all is produced")


main()
