"""Halo exchange around a circle: send to the right, then receive from the left. The grid is refined on the way."""
import kit4


def train(rank, world, port):
    ring = kit4.Ring(rank, world, port)
    edge = 1024
    for i in range(200):
        kit4.crunch(0.2)
        if i % 5 == 4:
            edge *= 32
        kit4.send(ring.next, bytes(edge))
        kit4.receive(ring.prev)
        print("%d: sweep %d, edge %d bytes" % (rank, i, edge), flush=True)


kit4.main(5, train, "fork")
