"""The last of a pool's documents is the longest: 64 s in one worker, the others are done."""
import concurrent.futures

import kit7


def tokenize(n):
    kit7.compute(64 if n == 39 else 0.2)
    return n


if __name__ == "__main__":
    kit7.role("main")
    log = kit7.logger(path="tokenize.log")
    with concurrent.futures.ProcessPoolExecutor(3) as pool:
        for n in pool.map(tokenize, range(40)):
            log.info("document %d of 40", n + 1)
    print("40 documents", flush=True)
