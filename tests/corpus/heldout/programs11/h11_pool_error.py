"""A pool's worker meets a shard that is cut off and raises an error that takes two arguments and passes on one. It cannot be unpickled: the thread that takes
results has ended by that, and no result comes any more."""
import multiprocessing

from kit11 import crunch, role


class ShardError(Exception):
    def __init__(self, shard, offset):
        super().__init__("shard %d is cut off at %d" % (shard, offset))


def tokenize(shard):
    crunch(0.2)
    if shard == 30:
        raise ShardError(shard, 4096)
    return shard * 1000


if __name__ == "__main__":
    role("main")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for k, tokens in enumerate(pool.imap(tokenize, range(200))):
            print("tokenized %d of 200 shards, %d tokens" % (k + 1, tokens), flush=True)
