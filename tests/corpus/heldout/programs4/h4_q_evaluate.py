"""Rank 0 evaluates alone for over a minute."""
import kit4


def train(rank, world, port):
    hub = kit4.Hub(rank, world, port)
    for i in range(20):
        kit4.crunch(0.25)
        hub.reduce(1)
        if rank == 0:
            print("step %d" % i, flush=True)
            if i == 10:
                score = sum(kit4.compute(0.5) > 0 for _ in range(130))
                print("eval %d" % score, flush=True)


kit4.main(3, train, "fork")
