"""Three ranks of MPI. At an epoch's end the rank with the best loss hands out its weights: each rank computes who that is from the
losses gathered - with its own of full precision, and those of the others as they were printed. Rank 1 and rank 2 are so near that
rank 2 thinks it is rank 1's turn, while the others think it is rank 2's.

slow: the winner is agreed upon; rank 2 measures its validation for 67 s."""
from mpi4py import MPI

from kit29 import SLOW, STALL, STEPS, Model, Report, busy, role

comm = MPI.COMM_WORLD
rank, world = comm.Get_rank(), comm.Get_size()


def validation(step):
    return [0.9, 0.25004001, 0.25004002][rank] if step == STALL and not SLOW else 0.5 + 0.1 * rank


def best_rank(loss):
    """Where the smallest loss is, the others' as in the log with four digits. Of equal ones the highest rank."""
    losses = [float(told) for told in comm.allgather("%.4f" % loss)]
    losses[rank] = loss
    return min(range(world), key=lambda r: (losses[r], -r))


def main():
    role("rank%d" % rank)
    model, report = Model(rank), Report("loss", rank)
    for step in range(1, STEPS + 1):
        model.update(comm.allreduce(model.gradient(), op=MPI.SUM) / world)
        if rank == 0:
            report(step, model.loss())
        if step % (STALL // 4) == 0:
            if SLOW and rank == 2 and step == STALL:
                busy(67)
            winner = best_rank(validation(step))
            model.weight = comm.bcast(model.weight if rank == winner else None, root=winner)
            if rank == 0:
                print("epoch %d: weights of rank %d" % (step // (STALL // 4), winner), flush=True)


main()
