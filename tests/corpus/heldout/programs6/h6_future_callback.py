"""A batch's future is set by a callback, which fails at an answer without logits; concurrent.futures logs that, and the future stays open."""
import concurrent.futures as cf

import kit6


def model(n):
    kit6.crunch(0.1)
    return {} if n == 23 else {"logits": n}


def submit(pool, n):
    out = cf.Future()
    pool.submit(model, n).add_done_callback(lambda done: out.set_result(done.result()["logits"]))
    return out


kit6.role("main")
with cf.ThreadPoolExecutor(2, "model") as pool:
    for n in range(100):
        print("answer", submit(pool, n).result(), flush=True)
