"""Rank 1's loss is not a number at step 22: it leaves the loop and goes to where the histories of all ranks are
gathered. The loss of the others is finite, they are in backward."""
import logging
import math

from kit12 import batch, join_group, torchrun, train_step, trainer

log = logging.getLogger("train")


def collect_histories(dist, rank, n, history):
    every = [None] * n if rank == 0 else None
    dist.gather_object(history, every, dst=0)
    return every


def body(rank, n):
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [rank {rank}] %(message)s")
    dist = join_group(rank, n)
    model, optimizer = trainer()
    history = []
    for step in range(60):
        x, y = batch()
        if (rank, step) == (1, 21):
            y = y / 0 * 0
        loss = train_step(model, optimizer, x, y) if step != 22 or rank != 1 else math.nan
        history.append(loss)
        if math.isnan(loss) and step > 21:
            log.warning("loss is nan at step %d, stopping", step)
            break
        if step % 4 == 0:
            log.info("step %d loss %.5f", step, loss)
    collect_histories(dist, rank, n, history)
    dist.destroy_process_group()


if __name__ == "__main__":
    torchrun(3, body)
