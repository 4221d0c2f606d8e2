"""A job without step lines; two ranks and an empty priority queue of rank 1."""
import os, sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit
import queue

todo = queue.PriorityQueue()


def run():
    m = kit.Mesh()
    if kit.rank() == 1:
        kit.services(3)
        for i in range(12):
            todo.put((i, "shard"))
    while True:
        kit.work(0.4)
        if kit.rank() == 1:
            todo.get()
        m.all_reduce(1)


kit.go(2, run, mesh=True)
