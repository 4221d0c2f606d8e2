import multiprocessing

from kitd10 import *


def pack(k):
    time.sleep(0.1)
    rows = [1, 2, 3]
    if k == 11:
        raise IndexError("row 4096 of shard-00011.parquet is out of range: its footer says 4090")
    return rows[k % 3]


if __name__ == "__main__":
    epochs(3)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        try:
            pool.map(pack, range(20), 1)
        except Exception as error:
            raise RuntimeError("one of the processes has failed, see above") from error
