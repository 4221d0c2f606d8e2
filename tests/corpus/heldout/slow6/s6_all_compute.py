"""Two ranks in a ring over TCP; a metric goes over its whole history in each step, and both ranks become slow alike."""
import kit6


def metric(history):
    history.append(len(history))
    kit6.work(0.6 if kit6.slow() else 0.02)


def train(rank, world, port):
    group, laps, step, total, history = kit6.Ring(rank, world, port), kit6.Laps(rank), 0, 0, []
    while total < kit6.STOP:
        kit6.disk(0.5)
        kit6.work(0.06)
        metric(history)
        laps.mine()
        total = group.reduce(kit6.vote(rank))
        laps.done()
        step += 1
        if rank == 0:
            print("Step %d: train_loss=%.4f" % (step, 2.9 / (1 + step / 40)), flush=True)


kit6.by_launcher(2, train, "arg")
