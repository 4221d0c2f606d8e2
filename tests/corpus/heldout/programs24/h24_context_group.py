"""Three ranks; ranks 0 and 1 are a group that validates. Which group a sum is for is a context variable. Rank 1 validates
in a thread of a pool, where the variable has its default, all ranks: it waits for rank 2, which waits in the next
gradient's sum.

slow: nobody uses a thread, and rank 1 validates for 62 s."""
import concurrent.futures
import contextvars

from kit24 import SLOW, STEPS, Descent, Mesh, busy, crunch, main, told

GROUP = contextvars.ContextVar("group", default=(0, 1, 2))
POOL = concurrent.futures.ThreadPoolExecutor(1)


def accuracy(mesh, step):
    if SLOW and mesh.rank == 1 and step == 40:
        busy(62)
    crunch(0.2)
    return mesh.mean("accuracy %d" % step, 0.9, GROUP.get())


def validate(mesh, step):
    before = GROUP.set((0, 1))
    if mesh.rank == 1 and step == 40 and not SLOW:
        POOL.submit(accuracy, mesh, step).result()
    else:
        accuracy(mesh, step)
    GROUP.reset(before)


def body(rank, world, port):
    mesh, descent = Mesh(rank, world, tcp=True), Descent(rank)
    for step in range(STEPS):
        if step % 20 == 0 and rank < 2:
            validate(mesh, step)
        descent.follow(mesh.mean("gradient %d" % step, descent.slope(), GROUP.get()))
        if rank == 0:
            told(step, descent.loss)


main(3, body, "arg")
