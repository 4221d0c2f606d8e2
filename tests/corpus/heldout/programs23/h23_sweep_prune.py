"""A search for settings on three ranks that talk by a tree of TCP. Each rank looks at its own loss to see whether a
trial is hopeless: rank 2 gives the third one up and waits for the next one to begin, the others sum its gradients.

slow: nobody gives up, and rank 2 compiles the third trial's kernel for 48 s."""
from kit23 import SLOW, Line, Tree, busy, main, told

LENGTH = 12


def hopeless(tree, trial, step):
    return not SLOW and (tree.rank, trial, step) == (2, 3, 4)


def begin_trial(tree, trial):
    tree.barrier("trial %d" % trial)
    if SLOW and tree.rank == 2 and trial == 3:
        busy(48)
    return Line(17 * trial + tree.rank)


def sum_gradient(tree, line, trial, step):
    line.apply(tree.mean("gradient %d.%d" % (trial, step), line.gradient()))


def body(rank, world, port):
    tree = Tree(rank, world, port)
    for trial in range(5 if SLOW else 40):
        line = begin_trial(tree, trial)
        for step in range(LENGTH):
            if hopeless(tree, trial, step):
                break
            sum_gradient(tree, line, trial, step)
            if rank == 0:
                told(LENGTH * trial + step, line.loss)


main(3, body)
