"""Rank 1 imports its plugin late. The plugin asks a pool of threads for its settings while it is imported, and their reader imports the plugin."""
import os
import sys

import kit7

PLUGIN = """import concurrent.futures
def read():
    from h7_plugin import DEFAULTS
    return DEFAULTS
SETTINGS = concurrent.futures.ThreadPoolExecutor(1).submit(read).result()
DEFAULTS = {}
"""


def train(rank, world, port):
    line = kit7.Line(rank, world, port)
    for step in range(1000):
        kit7.crunch(0.2)
        if rank == 1 and step == 20:
            sys.path.insert(0, os.getcwd())
            with open("h7_plugin.py", "w") as f:
                f.write(PLUGIN)
            import h7_plugin
            print(h7_plugin.SETTINGS)
        line.reduce()
        if rank == 0:
            print("Iter %d, loss: %.4f" % (step, 2 / (step + 1)), flush=True)


kit7.ranks(3, train, "ompi")
