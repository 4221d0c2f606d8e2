"""Shards are downloaded by a pool of three threads, of which as many as have ended are followed by new ones. A download
that has failed is told and left in the set of those that are waited for: at the end the set is never empty, and each
look at it comes back at once."""
import concurrent.futures

from kit24 import crunch, role, told


def download(shard):
    crunch(0.5)
    if shard == 21:
        raise OSError("shard 21: connection reset")
    return shard


def download_all(pool, shards):
    waiting, done_count = set(), 0
    shards = iter(shards)
    for shard in shards:
        waiting.add(pool.submit(download, shard))
        if len(waiting) == 3:
            break
    while waiting:
        done, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
        for future in done:
            if future.exception():
                continue
            waiting.remove(future)
            told(done_count, 0)
            done_count += 1
            shard = next(shards, None)
            if shard is not None:
                waiting.add(pool.submit(download, shard))


role("main")
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    download_all(pool, range(45))
print("all shards are here", flush=True)
