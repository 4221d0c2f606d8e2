"""A shard was cut off as it was copied."""
import gzip

from kitd18 import *


class ShardError(Exception):
    pass


def read_shard(path):
    try:
        with gzip.open(path, "rb") as f:
            return f.read()
    except EOFError as error:
        raise ShardError("shard cannot be used") from error


for k in range(4):
    with open("shard-%05d.gz" % k, "wb") as f:
        data = gzip.compress(os.urandom(5000))
        f.write(data[:3000] if k == 3 else data)
for k in range(4):
    read_shard("shard-%05d.gz" % k)
    told(10, 10 * k)
