"""A process of indexing has ended with an error and its event is never set; the main process waits for the event, not for the process."""
import multiprocessing as mp

import kit6


def index(ready):
    kit6.role("indexer")
    for shard in range(12):
        kit6.crunch(0.2)
        print("indexed shard", shard, flush=True)
    raise RuntimeError("shard 12: unexpected dtype uint16")


kit6.role("main")
ready = mp.get_context("fork").Event()
p = mp.get_context("fork").Process(target=index, args=(ready,), daemon=True)
p.start()
ready.wait()
print("searching")
