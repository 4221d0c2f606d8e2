"""A worker of a Pool has a limit of address space and meets a large image; its error comes to main."""
import multiprocessing
import resource

from kitd15 import *


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))


def decode(k):
    time.sleep(0.1)
    return len(bytearray(900 << 20 if k == 65 else 1000))


if __name__ == "__main__":
    role("main")
    with multiprocessing.get_context("fork").Pool(1, limit) as pool:
        for step, _ in enumerate(pool.imap(decode, range(200))):
            told(1, step, 0)
