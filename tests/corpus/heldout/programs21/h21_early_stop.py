"""Three forked ranks. Each has a part of the validation set and stops by itself when its own loss has not become better
three times. Rank 1's has not, the others' have: it is at the end of the training, they in the next step.

slow: rank 1 validates for 48 s once."""
from kit21 import SLOW, STEPS, Hub, busy, crunch, main, told


def validate(rank, step):
    if SLOW and rank == 1 and step == 40:
        busy(48)
    crunch(0.2)
    return 1.0 if rank == 1 and not SLOW else 1.0 / (1 + step)


def train_step(hub, step):
    crunch(0.2)
    hub.mean("grad%d" % step, 0.1)


def finish(hub):
    return hub.mean("finished", 1)


def body(rank, world, port):
    hub, best, patience = Hub(rank, world), 2.0, 3
    for step in range(STEPS):
        train_step(hub, step)
        if rank == 0:
            told(step)
        if step % 10 == 0:
            loss = validate(rank, step)
            patience = 3 if loss < best else patience - 1
            best = min(best, loss)
            if patience == 0:
                break
    finish(hub)


main(3, body, "fork")
