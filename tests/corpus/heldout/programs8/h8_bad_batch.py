"""Three workers and a star. Worker 2 skips a batch that it cannot read, so that it has one mean less and is at the final scores."""
import kit8


def read(rank, step):
    return int("1x" if (rank, step) == (2, 11) else "12")


def train(rank, n, port):
    star = kit8.Star(rank, n, port)
    for step in range(30):
        try:
            batch = read(rank, step)
        except ValueError as error:
            print("worker %d: skipping bad batch: %s" % (rank, error), flush=True)
            continue
        kit8.crunch(0.3)
        loss = star.mean(batch / (step + 1))
        if rank == 0:
            print("Epoch 1/1, Step %d/30, Loss: %.4f" % (step + 1, loss), flush=True)
    best = star.tell({"accuracy": 0.91})
    print("worker", rank, "got", best, flush=True)


kit8.ranks(3, train)
