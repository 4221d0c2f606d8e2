"""Every rank wants a compiled extension. Whoever makes the file `lock` compiles, the others wait until it is gone; it was left by a
compilation that was killed last week."""
import os
import time

import kit10

BUILD = "extensions_cache/fused_adam"


def load_extension():
    try:
        os.close(os.open(BUILD + "/lock", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        while os.path.exists(BUILD + "/lock"):
            time.sleep(0.1)
    else:
        kit10.crunch(2)
        os.unlink(BUILD + "/lock")


def body(rank, n, port):
    print("rank %d: Using %s as extensions root" % (rank, os.path.abspath(BUILD)), flush=True)
    load_extension()
    hub = kit10.Hub(rank, n, port)
    hub.reduce(1)


if "RANK" not in os.environ:
    os.makedirs(BUILD, exist_ok=True)
    open(BUILD + "/lock", "w").close()
    os.utime(BUILD + "/lock", (1700000000, 1700000000))
kit10.main(2, body)
