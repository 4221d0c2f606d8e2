"""Helpers of the twenty-seventh set: how ranks are started (from the fourth set), steps as different people print them.

Arguments of the programs: slow (the healthy one: it stands for long at the same place, and goes on), mute (no steps)."""
import os
import sys
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "programs4"))
from kit4 import crunch, dial, free_port, listen, main, read, receive, role, send, start, with_parent  # noqa: E402,F401

SLOW, MUTE = "slow" in sys.argv, "mute" in sys.argv
STALL = 90
STEPS = 110 if SLOW else 3000
OWN = [sys.executable, os.path.abspath(sys.argv[0])]
WORDS = [w for w in ("slow", "mute") if w in sys.argv]


def busy(seconds):
    """Long work of which nothing is printed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        crunch(0.4)


def tell(step, how="step {step} loss {loss:.4f}", every=5):
    if step % every == 0 and not MUTE:
        print(how.format(step=step, loss=2.3 / (1 + 0.02 * step), epoch=step // 30, part=step % 30), flush=True)
