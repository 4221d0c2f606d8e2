"""An evaluation over its time is terminated; it had the lock of the shared counter of tokens."""
import multiprocessing as mp
import time

import kit8


def evaluate(tokens, n):
    kit8.with_parent()
    kit8.role("evaluator")
    for _ in range(10):
        kit8.crunch(0.2)
        with tokens.get_lock():
            tokens.value += 128
            if n == 3:
                time.sleep(1000)


if __name__ == "__main__":
    mp.set_start_method("fork")
    kit8.role("main")
    tokens = mp.Value("l", 0)
    for n in range(100):
        p = mp.Process(target=evaluate, args=(tokens, n))
        p.start()
        p.join(4)
        if p.is_alive():
            print("evaluation %d takes too long, terminating" % n, flush=True)
            p.terminate()
            p.join()
        with tokens.get_lock():
            tokens.value += 1000
        print("evaluation %d: %d tokens" % (n, tokens.value), flush=True)
