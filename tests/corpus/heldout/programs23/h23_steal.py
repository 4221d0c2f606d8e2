"""Two ranks of a data preparation, which take work from each other when they have none left. A request is answered
between two pieces of work. In the end both have none, and both wait for an answer to their request.

slow: rank 1's first piece of work after the 40th takes 80 s, in which rank 0 waits for an answer."""
import select

from kit23 import SLOW, Star, busy, crunch, main, told


class Worker:
    def __init__(self, star, tasks):
        self.star, self.tasks, self.asked, self.done, self.over = star, tasks, 0, 0, False
        self.other = star.up or star.kids[0]

    def answer(self):
        while self.asked or select.select([self.other], [], [], 0)[0]:
            if not self.asked and self.star.receive(self.other) is None:
                self.over = True
                return
            self.asked = 0
            half = self.tasks[len(self.tasks) // 2 + 1:]
            del self.tasks[len(self.tasks) // 2 + 1:]
            self.star.send(self.other, half)

    def steal(self):
        if self.over:
            return None
        try:
            self.star.send(self.other, "steal")
        except OSError:  # it has done all and has left
            return None
        while True:
            got = self.star.receive(self.other)
            if got != "steal":
                return got
            self.asked += 1

    def work(self):
        while True:
            self.answer()
            if self.tasks:
                task = self.tasks.pop(0)
                busy(80) if SLOW and task == 40 else crunch(0.2)
                self.done += 1
                if self.star.rank == 0:
                    told(self.done, 0)
            elif SLOW and self.star.rank == 1:
                self.star.send(self.other, None)
                while self.other.recv(1 << 16):
                    pass
                return
            else:
                got = self.steal()
                if got is None:
                    return
                self.tasks += got


def body(rank, world, port):
    Worker(Star(rank, world), list(range(100, 125)) if rank == 0 else list(range(60))).work()


main(2, body)
