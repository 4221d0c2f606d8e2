"""Rank 3 meets an id that is not in its vocabulary, by an assertion without words; rank 0 says that it has lost a rank, and which."""
from kitd11 import *


def check(tokens):
    assert max(tokens) < 32000


g = Group(4)
try:
    for s in range(100):
        g.steps(1, s)
        check([5, 17, 32001 if (RANK, s) == (3, 10) else 9])
except (OSError, EOFError) as e:
    say("rank %d: lost a peer: %r" % (RANK, e))
    time.sleep(0.3)
    sys.exit(5)
