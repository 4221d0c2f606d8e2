"""Two ranks by torchrun with accelerate. The argument says what is odd.

gather: under main_process_first rank 0 alone gathers a metric, rank 1 waits for it before it comes in (slow: rank 0 tokenizes)."""
import sys

from datetime import timedelta

from kit26 import RANK, SLOW, STALL, batches, crunch, logger, net, role, sgd, told, torchrun

torchrun(2)
import torch  # noqa: E402
from accelerate import Accelerator, InitProcessGroupKwargs  # noqa: E402

accelerator = Accelerator(cpu=True, kwargs_handlers=[InitProcessGroupKwargs(backend="gloo", timeout=timedelta(hours=2))])
log = logger("finetune")
model = net()
model, optimizer = accelerator.prepare(model, sgd(model))


def train(n, first=0):
    for step, (x, y) in enumerate(batches(n, RANK), first):
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
        if RANK == 0 and step % 5 == 0:
            told(log, step, loss.item())
    return loss.detach()


def metric(loss):
    with accelerator.main_process_first():
        if accelerator.is_main_process:
            if SLOW:
                log.info("tokenizing the validation set")
                crunch(66)
            else:
                log.info("mean loss %.3f", accelerator.reduce(loss, "mean"))


metric(train(STALL))
train(20, STALL)
accelerator.wait_for_everyone()
accelerator.end_training()
