"""Training of one process. Batches come from a pool of two threads; a task for a batch with long documents splits it and submits the parts
to the same pool. When two of these are at work at once, both wait for parts that no thread is free to make.

slow: parts are made in place; a document takes 69 s."""
import concurrent.futures

from kit29 import SLOW, STALL, STEPS, Model, Report, busy, crunch, role

POOL = concurrent.futures.ThreadPoolExecutor(2, thread_name_prefix="collate")


def part(batch, k):
    crunch(0.05)
    if SLOW and batch == STALL and k == 1:
        busy(69)
    return batch * 0.001 + k


def collate(batch):
    crunch(0.45)
    long = batch % 10 == 0 or batch in (STALL, STALL + 1)
    if not long:
        return part(batch, 0)
    if SLOW:
        return sum(part(batch, k) for k in range(2))
    return sum(f.result() for f in [POOL.submit(part, batch, k) for k in range(2)])


def batches():
    ahead = [POOL.submit(collate, k) for k in range(2)]
    for k in range(STEPS):
        batch = ahead.pop(0).result()
        ahead.append(POOL.submit(collate, k + 2))
        yield batch


def main():
    role("main")
    model, report = Model(), Report("loss")
    for step, batch in enumerate(batches()):
        model.update(model.gradient() + 1e-6 * batch)
        report(step, model.loss())
        if step == STEPS - 1:
            break


main()
POOL.shutdown(wait=False, cancel_futures=True)
