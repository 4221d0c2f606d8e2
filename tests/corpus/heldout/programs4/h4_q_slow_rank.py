"""One rank has long sequences: each step takes it 18 s."""
import kit4


def train(rank, world, port):
    ring = kit4.Ring(rank, world, port)
    for i in range(4):
        kit4.compute(18) if rank == 1 else kit4.crunch(0.5)
        ring.reduce(1)
        if rank == 0:
            print("step %d" % i, flush=True)


kit4.main(3, train)
