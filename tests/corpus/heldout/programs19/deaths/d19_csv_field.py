"""A document in a table is longer than what a field may be."""
import csv

from kitd19 import *

with open("documents.csv", "w") as f:
    for k in range(60):
        f.write("%d,%s\n" % (k, "word " * (40000 if k == 33 else 20)))
with open("documents.csv", newline="") as f:
    for step, (number, text) in enumerate(csv.reader(f)):
        told(1, step)
