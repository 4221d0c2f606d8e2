"""Worker 3 has stopped by its own validation loss; it has saved and looks for the files that the others write at their ends."""
import kit8


def train(rank, n, port):
    star, best, worse = kit8.Star(rank, n, port), 9.0, 0
    for step in range(1000):
        kit8.crunch(0.2)
        star.mean(1.0)
        if step % 5 == 4:
            loss = 1.0 + step if rank == 3 else 1.0 / step
            best, worse = min(best, loss), worse + 1 if loss > best else 0
            print("[%d] val_loss=%.3f best=%.3f patience=%d/3" % (rank, loss, best, 3 - worse), flush=True)
            if worse == 3:
                break
    open("finished.%d" % rank, "w").close()
    for r in range(n):
        kit8.wait_for("finished.%d" % r, 0.5)


kit8.ranks(4, train, "NODE_NO")
