"""Rank 2: a task of the reading pool waits for the decoding pool, whose only thread waits for the reading pool."""
import os
import sys
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import kit2 as kit
import time
from concurrent.futures import ThreadPoolExecutor

readers = ThreadPoolExecutor(1, thread_name_prefix="read")
decoders = ThreadPoolExecutor(1, thread_name_prefix="decode")


def raw(k):
    time.sleep(0.05)
    return k


def decode(k, again):
    return readers.submit(raw, k).result() if again else k


def sample(k, again):
    raw(k)
    return decoders.submit(decode, k, again).result()


def run():
    group = kit.Ring()
    for i in range(1000):
        time.sleep(0.25)
        readers.submit(sample, i, kit.RANK == 2 and i == 28).result()
        group.allreduce(0.5)
        if kit.RANK == 0 and i % 2 == 0:
            kit.log(i, "meter")


kit.main(3, run)
