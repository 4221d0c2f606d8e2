from kitd7 import *
import concurrent.futures


def read(n):
    time.sleep(0.1)
    return 100 / (n - 6)


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for n, x in enumerate(pool.map(read, range(20))):
        print("shard", n, "scale", x, flush=True)
