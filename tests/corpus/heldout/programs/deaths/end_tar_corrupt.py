"""A shard that is cut off."""
from job import *

import io, tarfile
b = io.BytesIO()
with tarfile.open(fileobj=b, mode="w:gz") as t:
    i = tarfile.TarInfo("x")
    i.size = 300000
    t.addfile(i, io.BytesIO(os.urandom(300000)))
train(0, 20)
with tarfile.open(fileobj=io.BytesIO(b.getvalue()[:100000])) as t:
    t.extractfile("x").read()
