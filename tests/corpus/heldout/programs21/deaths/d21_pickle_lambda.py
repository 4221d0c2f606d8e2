"""A dataset has a lambda as its transformation, and its loaders are spawned: a lambda cannot be pickled."""
import multiprocessing

from kitd21 import told


class Dataset:
    def __init__(self, size):
        self.transform = lambda x: x / size

    def __getitem__(self, k):
        return self.transform(k)


def load(dataset):
    return dataset[0]


if __name__ == "__main__":
    told(25)
    loader = multiprocessing.get_context("spawn").Process(target=load, args=(Dataset(256),))
    loader.start()
    loader.join()
