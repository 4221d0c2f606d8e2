from kitd8 import *
from concurrent.futures import ProcessPoolExecutor


def encode(n):
    if n == 7:
        fault()
    time.sleep(0.1)
    return n


fit(4)
with ProcessPoolExecutor(2) as pool:
    for n in pool.map(encode, range(20)):
        log.info("encoded %d", n)
