"""A pipeline of four stages, joined each to each. After a change of the layout stage 3 takes its input from stage 1, which sends to stage 2."""
import kit6


def stage(rank, world, links):
    before, after = rank - 1, rank + 1
    for step in range(1000):
        if rank == 3 and step == 20:
            before = 1
        if rank:
            kit6.receive(links[before])
        kit6.crunch(0.08)
        if after < world:
            kit6.send(links[after], "activations")
            kit6.receive(links[after])
        if rank:
            kit6.send(links[before], "gradients")
        if rank == 0:
            print("micro batch", step, flush=True)


pairs = kit6.Pairs(4)
kit6.ranks(4, lambda r, n, port: stage(r, n, pairs.of(r)), "fork")
