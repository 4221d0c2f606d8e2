"""A dataset that is handed to a spawned loader has a lock since it counts its reads."""
import multiprocessing

from kitd18 import *


class Dataset:
    def __init__(self):
        self.reads, self.lock = 0, threading.Lock()

    def read(self):
        with self.lock:
            self.reads += 1


def load(dataset):
    dataset.read()


if __name__ == "__main__":
    told(25)
    loader = multiprocessing.get_context("spawn").Process(target=load, args=(Dataset(),), name="loader")
    loader.start()
    loader.join()
