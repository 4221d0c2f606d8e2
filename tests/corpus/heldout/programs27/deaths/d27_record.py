"""Rank 2 of three finds a record that is not JSON."""
import json

from kitd27 import RANK, ranks, step

ring = ranks()
for k in range(200):
    json.loads('{"text": "a cat", "label": 3' + ("" if RANK == 2 and k == 35 else "}"))
    step(ring, k)
