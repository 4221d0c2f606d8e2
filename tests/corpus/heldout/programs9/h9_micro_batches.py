"""Six stages of a pipeline, one rank each. Stage 4 meets an overflow, drops the gradient of that micro batch and waits for the next
activation; stage 3 waits for the gradient."""
import kit9


class Stage:
    def __init__(self, rank, n, port):
        door = kit9.listen(port + 1 + rank)
        self.right = kit9.dial(port + 2 + rank) if rank + 1 < n else None
        self.left = door.accept()[0] if rank else None

    def micro_batch(self, overflow):
        x = kit9.receive(self.left) if self.left else 1.0
        kit9.crunch(0.05)
        if self.right:
            kit9.send(self.right, x * 1.01)
            x = kit9.receive(self.right)
        if self.left and not overflow:
            kit9.send(self.left, x)
        return x


def train(rank, n, port):
    stage = Stage(rank, n, port)
    for s in range(40):
        for m in range(4):
            stage.micro_batch(overflow=(rank, s, m) == (4, 9, 2))
        if rank == n - 1:
            print("iteration %5d | lm loss %.3f | skipped 0" % (s + 1, 4 / (1 + s)), flush=True)


kit9.ranks(6, train, "slurm")
