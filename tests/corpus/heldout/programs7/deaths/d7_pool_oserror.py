from kitd7 import *
import multiprocessing


def parse(n):
    time.sleep(0.05)
    if n == 30:
        raise OSError(5, "Input/output error", "/data/part-00030.parquet")
    return n


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for n in pool.imap(parse, range(100)):
            print("parsed", n, flush=True)
