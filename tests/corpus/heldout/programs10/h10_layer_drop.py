"""Eight ranks leave out layers by chance and sum the gradients of those that they have run. Rank 5 has not got the common seed."""
import random

import kit10


class Sums(kit10.Ring):
    """Around the ring; what is of another layer is kept for later."""

    def layer(self, s, k):
        early = self.__dict__.setdefault("early", [])
        kit10.send(self.next, (s, k))
        while (s, k) not in early:
            early.append(kit10.receive(self.prev))
        early.remove((s, k))


def body(rank, n, port):
    sums, chance = Sums(rank, n, port), random.Random(7)
    for s in range(30):
        kit10.crunch(0.1)
        if rank == 5 and s == 6:
            chance = random.Random(1)
        for k in range(6):
            if chance.random() > 0.3:
                sums.layer(s, k)
        kit10.log(rank, s, layers=6)


kit10.ranks(8, body, "slurm")
