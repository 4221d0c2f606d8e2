"""Three ranks; each 50 steps rank 1 fills its cache for 11 s from the disk and the others wait."""
import kit7


def train(rank, world, port):
    def before(step):
        kit7.disk(0.35)
        kit7.work(0.05)
        if rank == 1 and step % 50 == 49:
            for part in range(22):
                kit7.disk(0.45)
                kit7.work(0.05)
    kit7.loop(rank, kit7.Mesh(rank, world), before, lambda s: "Step %d - loss %.4f" % (s, 3 / (1 + s / 40)), 180)


kit7.ranks(3, train)
