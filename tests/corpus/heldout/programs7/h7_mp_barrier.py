"""Four processes of multiprocessing meet at a Barrier after each shard. Worker 3 has fewer shards and returns."""
import multiprocessing as mp

import kit7


def work(k, meet):
    kit7.with_parent()
    kit7.role("worker%d" % k)
    for shard in range(500 if k != 3 else 18):
        kit7.crunch(0.25)
        meet.wait()
        if k == 0:
            print("[shard %05d] merged, loss=%.3f" % (shard, 4 / (shard + 1)), flush=True)


if __name__ == "__main__":
    kit7.role("main")
    meet = mp.Barrier(4)
    procs = [mp.Process(target=work, args=(k, meet)) for k in range(4)]
    for p in procs:
        p.start()
    for p in procs:
        p.join()
