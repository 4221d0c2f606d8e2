"""Helpers of the twenty-eighth set: steps as people print them, and what the twenty-fifth set has for ranks."""
import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs25"))
from kit25 import (OWN, SLOW, Ring, Star, busy, crunch, dial, free_port, listen, main, receive,  # noqa: E402,F401
                   role, send, start, with_parent)

STALL = 110
STEPS = 125 if SLOW else 4000


def compute(seconds=0.2):
    crunch(0.03)
    time.sleep(seconds - 0.03)


def tell(step, style="plain", **more):
    """A line for each fifth step."""
    loss = 3.2 / (1 + 0.02 * step)
    if step % 5:
        return
    if style == "plain":
        print("step %d loss %.3f" % (step, loss), flush=True)
    elif style == "epoch":
        print("Epoch: [%d][%3d/50]\tTime 0.201\tLoss %.4e" % (step // 50, step % 50, loss), flush=True)
    elif style == "it":
        print("{'loss': %.4f, 'learning_rate': 5e-05, 'step': %d}" % (loss, step), flush=True)
    elif style == "log":
        print("%s INFO train: iteration %d/4000 | lm loss: %.5f | grad norm: 0.81" % (time.strftime("%F %T"), step, loss),
              file=sys.stderr, flush=True)


def part(name, *words):
    """This program again, in another part."""
    return start(OWN + [name, *map(str, words), *(["slow"] if SLOW else [])], name)
