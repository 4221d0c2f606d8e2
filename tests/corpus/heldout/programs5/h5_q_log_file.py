"""Steps go on all the time, but are told to a log file only; on the output there is a line for each epoch of 70 s."""
import kit5


def train(rank, world, port):
    group = kit5.Butterfly(rank, world, port)
    with open("rank%d.log" % rank, "w") as log:
        for step in range(300):
            kit5.crunch(0.22)
            print("step", step, "loss", group.reduce(1.0 / (step + 1)), file=log)
    if rank == 0:
        print("epoch 0 is done", flush=True)


print("epoch 0", flush=True)
kit5.ranks(2, train)
