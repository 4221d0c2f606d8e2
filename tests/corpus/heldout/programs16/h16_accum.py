"""Three ranks, told by argument, sum their gradients over lists of a server after each fourth micro-batch. The node
of rank 2 has a configuration of its own: it sums after each eighth, so it has half as many sums, and is at the end
of the epoch when the others are in the middle."""
from kit16 import Lists, crunch, main, told

ACCUMULATE = {2: 8}


def finish(lists, epoch):
    if lists.rank:
        lists.push("epoch%d:done" % epoch, lists.rank)
        return lists.pop("epoch%d:go:%d" % (epoch, lists.rank))
    for _ in range(lists.world - 1):
        lists.pop("epoch%d:done" % epoch)
    for r in range(1, lists.world):
        lists.push("epoch%d:go:%d" % (epoch, r), "go")
    return "go"


def body(rank, world, port):
    lists = Lists(rank, world, port)
    every = ACCUMULATE.get(rank, 4)
    for epoch in range(4):
        update = 0
        for micro in range(160):
            crunch(0.03 if rank == 2 else 0.06)
            if micro % every == every - 1:
                lists.mean("grads:%d:%d" % (epoch, update), 0.5)
                if rank == 0:
                    told(update)
                update += 1
        finish(lists, epoch)


main(3, body, "arg")
