"""A rank that generates has credit for eight samples that were not yet taken, the learner gives credit back by eights. After it ran
out of memory once the generator lowers its own limit to six: it waits for credit, the learner for the rest of its eight.

slow: the limit stays; at one step the learner updates for 64 s."""
import os

from kit27 import SLOW, STALL, STEPS, busy, crunch, dial, listen, main, receive, send, tell


def generate(end):
    open_, limit = 0, 8
    for step in range(STEPS * 8):
        if step == STALL * 8:
            limit = 8 if SLOW else 6
        while open_ >= limit:
            open_ -= receive(end)
        crunch(0.02)
        send(end, os.urandom(256))
        open_ += 1


def learn(end):
    for step in range(STEPS):
        batch = [receive(end) for _ in range(8)]
        crunch(0.05)
        if SLOW and step == STALL:
            busy(64)
        send(end, len(batch))
        tell(step, "ppo: update {step} kl 0.012 loss {loss:.4f}")


main(2, lambda rank, world, port: learn(listen(port).accept()[0]) if rank == 0 else generate(dial(port)))
