"""A loader is started by spawn with a lambda as its transform."""
import multiprocessing

from kitd16 import *


def load(transform):
    transform(1)


if __name__ == "__main__":
    told(30)
    transform = lambda x: x * 2  # noqa: E731
    worker = multiprocessing.get_context("spawn").Process(target=load, args=(transform,), name="loader")
    worker.start()
    worker.join()
