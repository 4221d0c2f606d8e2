"""Two ranks that talk by a tree of TCP. Rank 1 imports a module of features late; when it is imported the module starts
a thread and waits for it, and the thread imports the module as well."""
import sys

from kit23 import STEPS, Line, Tree, main, told

MODULE = '''
import threading

TABLE = {}


def fill():
    from slow_features import TABLE
    TABLE.update({k: k % 7 for k in range(1000)})


def warm_up():
    filler = threading.Thread(target=fill, name="filler")
    filler.start()
    filler.join()


warm_up()
'''


def more_features():
    import slow_features
    return slow_features.TABLE


def body(rank, world, port):
    if rank == 1:
        with open("slow_features.py", "w") as f:
            f.write(MODULE)
        sys.path.insert(0, ".")
    tree, line = Tree(rank, world, port), Line(rank)
    for step in range(STEPS):
        if rank == 1 and step >= 33:
            more_features()
        line.apply(tree.mean("gradient %d" % step, line.gradient()))
        if rank == 0:
            told(step, line.loss)


main(2, body)
