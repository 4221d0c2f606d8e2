"""Three stages of a model. The first one cuts each batch into micro-batches, hands them on and waits for their
gradients; the others count as many as the settings say. The last batch of the epoch is a smaller one, of three
micro-batches: stage 1 waits for the fourth, stage 0 for the first gradient.

slow: it is a full one, for which stage 1 takes 48 s."""
from kit20 import SLOW, STEPS, Line, busy, crunch, main, receive, send, told

MICRO = 4


def forward(line, rank, step):
    for _ in range(MICRO):
        x = receive(line.before)
        crunch(0.02)
        if line.behind:
            send(line.behind, x + 1)
    if SLOW and rank == 1 and step == 40:
        busy(48)


def backward(line):
    for _ in range(MICRO):
        grad = receive(line.behind) if line.behind else 0.5
        crunch(0.02)
        send(line.before, grad)


def first_stage(line, step):
    rows = list(range(12 if step == 40 and not SLOW else 16))
    parts = [rows[k:k + 4] for k in range(0, len(rows), 4)]
    for part in parts:
        crunch(0.02)
        send(line.behind, sum(part))
    return sum(receive(line.behind) for _ in parts)


def body(rank, world, port):
    line = Line(rank, world, port)
    for step in range(STEPS):
        if rank == 0:
            first_stage(line, step)
            told(step)
        else:
            forward(line, rank, step)
            backward(line)


main(3, body)
