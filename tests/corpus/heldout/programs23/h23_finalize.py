"""Two ranks that talk by a tree of TCP. Rank 1 has a table of the tensors in use, behind a lock; a finalizer takes a
tensor out when nobody has it any more. The table's trimming drops the last one itself, under the lock that the
finalizer then wants."""
import threading
import weakref

from kit23 import STEPS, Line, Tree, main, told


class Tensor:
    def __init__(self, key):
        self.key = key


class Table:
    def __init__(self):
        self.lock, self.sizes, self.kept = threading.Lock(), {}, []

    def forget(self, key):
        with self.lock:
            self.sizes.pop(key, None)

    def add(self, key, keep):
        tensor = Tensor(key)
        weakref.finalize(tensor, self.forget, key)
        with self.lock:
            self.sizes[key] = 1024
            if keep:
                self.kept.append(tensor)
        return tensor

    def trim(self):
        with self.lock:
            while len(self.kept) > 2:
                self.kept.pop(0)


def body(rank, world, port):
    tree, line, table = Tree(rank, world, port), Line(rank), Table()
    for step in range(STEPS):
        if rank == 1:
            table.add(step, step % 10 == 9)
            if step % 7 == 0:
                table.trim()
        line.apply(tree.mean("gradient %d" % step, line.gradient()))
        if rank == 0:
            told(step, line.loss)


main(2, body)
