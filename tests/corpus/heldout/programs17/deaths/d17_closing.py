"""A record is broken; the end of the with block fails as well, and its error is the last one."""
from kitd17 import *


class Shard:
    def __init__(self):
        self.index = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.index.flush()

    def records(self):
        for k in range(20):
            if k == 12:
                raise ValueError("record 12 of shard-03: checksum 8f1c2a00 is not 77aa0e31")
            yield k


told(15)
with Shard() as shard:
    for record in shard.records():
        told(1, begin=15 + record)
