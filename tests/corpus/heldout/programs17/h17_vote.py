"""Three ranks (by argument) vote before a checkpoint is made the current one. Rank 2 has no space left and votes no;
rank 0 takes what is not a yes for a not yet, and waits for another vote of rank 2, which waits for the decision, as
rank 1 does."""
from kit17 import Star, crunch, main, told


def commit(star, step):
    vote = "no: disk quota exceeded" if (star.rank, step) == (2, 40) else "yes"
    if star.rank:
        star.tell(0, "vote", vote)
        return star.take(0, "decision")
    for r in sorted(star.peers):
        while star.take(r, "vote") != "yes":
            pass
    for r in star.peers:
        star.tell(r, "decision", "commit")
    return "commit"


def body(rank, world, port):
    star = Star(rank, world, port)
    for step in range(400):
        crunch(0.2)
        star.mean("grad%d" % step, 0.1)
        if rank == 0:
            told(step)
        if step % 10 == 0:
            commit(star, step)


main(3, body, "arg")
