"""Files are tokenized by a pool; the last file is fifty times as large as the others."""
import multiprocessing
import os

import kit10


def tokenize(k):
    kit10.with_parent()
    kit10.crunch(0.4 if k != 39 else 58)
    return os.getpid(), k


if __name__ == "__main__":
    kit10.role("main")
    with multiprocessing.get_context("fork").Pool(4) as pool:
        for pid, k in pool.imap_unordered(tokenize, range(40)):
            print("file", k, flush=True)
