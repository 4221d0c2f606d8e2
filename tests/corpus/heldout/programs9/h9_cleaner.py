"""Documents are cleaned with an expression that takes for ever on one of rank 1's lines."""
import re

import kit9

SENTENCE = re.compile(r"^(?:[\w,]+\s?)+[.?]$")


def line(rank, s):
    if (rank, s) == (1, 17):
        return "aktualisierungen,sicherheitshinweise,nutzungsbedingungen,impressum!"
    return "a short sentence that ends."


def train(rank, n, port):
    hub = kit9.Hub(rank, n, port)
    for s in range(60):
        kit9.crunch(0.2)
        kept = bool(SENTENCE.match(line(rank, s)))
        total = hub.reduce(int(kept))
        if rank == 0:
            print("batch", s, "kept", total, "of", n, flush=True)


kit9.main(3, train)
