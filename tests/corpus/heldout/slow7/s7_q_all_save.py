"""Three ranks; each 45 steps all of them write their part of a checkpoint for 7 s."""
import kit7


def train(rank, world, port):
    def before(step):
        kit7.disk(0.4)
        kit7.work(0.05)
        if step % 45 == 44:
            for part in range(14):
                with open("part%d.bin" % rank, "ab") as f:
                    f.write(bytes(100000))
                kit7.disk(0.5)
    kit7.loop(rank, kit7.Ring(rank, world, port), before, lambda s: "[%d/1000] loss: %.4f" % (s, 3 / (1 + s / 40)), 180)


kit7.by_launcher(3, train)
