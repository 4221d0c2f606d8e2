"""A shard was unpacked by a proxy on its way, and has its old name still."""
import gzip
import json

from kitd24 import steps

with gzip.open("part-0.jsonl.gz", "wt") as f:
    f.write('{"text": "a"}\n')
with open("part-1.jsonl.gz", "w") as f:
    f.write('{"text": "b"}\n')
for k in range(2):
    steps(10, 10 * k)
    with gzip.open("part-%d.jsonl.gz" % k, "rt") as f:
        rows = [json.loads(line) for line in f]
    print("part %d: %d rows" % (k, len(rows)), flush=True)
