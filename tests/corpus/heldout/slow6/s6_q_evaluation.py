"""Three ranks over unix sockets; each 60 steps rank 0 evaluates for 14 s and the others wait."""
import kit6


def evaluate():
    print("validation", flush=True)
    for _ in range(28):
        kit6.disk(0.4)
        kit6.work(0.1)


def train(rank, world, port):
    group, laps, step, total = kit6.Mesh(rank, world), kit6.Laps(rank), 0, 0
    while total < kit6.STOP:
        kit6.disk(0.4)
        kit6.work(0.05)
        if rank == 0 and step % 60 == 59:
            evaluate()
        laps.mine()
        total = group.reduce(kit6.vote(rank, 180))
        laps.done()
        step += 1
        if rank == 0:
            print("Epoch [1/10], Step [%d/900], Loss: %.4f" % (step, 2.5 / (1 + step / 70)), flush=True)


kit6.ranks(3, train)
