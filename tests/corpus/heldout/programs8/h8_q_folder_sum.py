"""Workers sum by files in a shared folder. Worker 1 sorts its cache for 63 s before step 15, the others look for its file."""
import kit8


def train(rank, n, port):
    for step in range(28):
        kit8.crunch(0.25)
        if (rank, step) == (1, 14):
            print("[node 1] rebuilding length buckets", flush=True)
            kit8.compute(63)
        total = kit8.folder_sum("grad.%d" % step, rank, n, 1.0 / (step + 1))
        if rank == 0:
            print("[node 0] it=%03d loss=%.5f" % (step, total), flush=True)


kit8.ranks(3, train, "NODE_NO")
