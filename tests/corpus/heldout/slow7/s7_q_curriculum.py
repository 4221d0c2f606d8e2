"""Two ranks; sequences get longer by the plan, and it says so: a step takes 0.45 s at first and a fifth more at the end."""
import kit7


def train(rank, world, port):
    def before(step):
        length = 512 + min(512, step)
        kit7.disk(0.3 + length / 512 * 0.1)
        kit7.work(0.05)
    kit7.loop(rank, kit7.Hub(rank, world, port), before, lambda s: "step %d seq_len %d loss %.4f" % (s, 512 + min(512, s), 3 / (1 + s / 40)), 180)


kit7.by_launcher(2, train)
