"""Data parallel training by torchrun, with DistributedDataParallel over gloo. The argument says what is odd.

uneven: rank 2 has fewer batches, and goes to the barrier at the end of the epoch; the others want its gradient.
unused: rank 1 takes a path through the model in which most parameters have no part, so that it does not reduce, and goes
  on to its evaluation's recv; rank 0 waits in backward.
nan: rank 1 skips backward for a loss that is not finite, and waits for rank 0's word at the store.
rank0-barrier: rank 0 alone goes to a barrier of a group for the processor after a checkpoint (slow: all do, rank 1 late).
eval: rank 0 alone evaluates with a sum in it (slow: it computes alone, without a sum), the others are at a barrier."""
import sys
import time
from datetime import timedelta

from kit26 import RANK, SLOW, STALL, batches, crunch, fit, join, leave, logger, net, role, sgd, told, torchrun

CASE = sys.argv[1]
torchrun({"uneven": 3, "eval": 3}.get(CASE, 2))
import torch  # noqa: E402
from torch.nn.parallel import DistributedDataParallel as Ddp  # noqa: E402

dist = join(timeout=timedelta(hours=2))
cpu = dist.new_group(backend="gloo", timeout=timedelta(hours=2))
log = logger("train")


class Experts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList([net(), net()])

    def forward(self, x, both=True):
        return self.parts[0](x) + (self.parts[1](x) if both else 0)


def say(step, loss):
    if RANK == 0 and step % 5 == 0:
        told(log, step, loss)


def evaluate(model, seconds):
    log.info("evaluating 500 batches")
    crunch(seconds)
    with torch.no_grad():
        return sum((model(x) - y).pow(2).mean().item() for x, y in batches(10, 9, pause=0))


def epoch_end(group):
    dist.barrier(group=group)


def uneven(model, optimizer):
    for step, (x, y) in enumerate(batches(STALL - (RANK == 2), RANK)):
        say(step, fit(model, optimizer, x, y))
    epoch_end(cpu)


def unused(model, optimizer):
    for step, (x, y) in enumerate(batches(STALL, RANK)):
        say(step, (model(x) - y).pow(2).mean().item())
        loss = (model(x, not (RANK == 1 and step == STALL - 1)) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    if RANK == 1:
        share = torch.zeros(1)
        dist.recv(share, 0, group=cpu)
    else:
        dist.send(torch.ones(1), 1, group=cpu)


def nan(model, optimizer):
    store = dist.distributed_c10d._get_default_store()
    for step, (x, y) in enumerate(batches(STALL, RANK)):
        loss = (model(x) - y).pow(2).mean()
        if RANK == 1 and step == STALL - 1:
            loss = loss * float("nan")
        if not torch.isfinite(loss):
            log.warning("rank %d: loss is %s, step %d is skipped", RANK, loss.item(), step)
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        say(step, loss.item())
    if RANK == 0:
        store.set("epoch/0/done", "1")
    store.wait(["epoch/0/done"], timedelta(hours=2))


def rank0_barrier(model, optimizer):
    for step, (x, y) in enumerate(batches(STALL + 20 * SLOW, RANK)):
        if step == STALL - 1 and (SLOW or RANK == 0):
            if RANK == 0:
                torch.save(model.state_dict(), "last.pt")
            elif SLOW:
                log.info("rank 1: packing samples of the epoch")
                crunch(66)
            epoch_end(cpu)
        say(step, fit(model, optimizer, x, y))


def eval_(model, optimizer):
    for step, (x, y) in enumerate(batches(STALL, RANK)):
        say(step, fit(model, optimizer, x, y))
    if RANK == 0:
        score = torch.tensor(evaluate(model.module, 68 if SLOW else 0.5))
        if not SLOW:
            dist.all_reduce(score)
        log.info("score %.3f", score)
    epoch_end(cpu)
    for step, (x, y) in enumerate(batches(20, RANK)):
        say(STALL + step, fit(model, optimizer, x, y))


model = Ddp(Experts() if CASE == "unused" else net(), find_unused_parameters=False, bucket_cap_mb=0.01)
{"uneven": uneven, "unused": unused, "nan": nan, "rank0-barrier": rank0_barrier, "eval": eval_}[CASE](model, sgd(model))
leave()
time.sleep(0.1)
role("done")
