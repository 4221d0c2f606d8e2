"""Writes truth.json and expect.json from cases_*.py."""
import json
import os

import cases_benign
import cases_hang

here = os.path.dirname(os.path.abspath(__file__))
allc = cases_hang.CASES + cases_benign.CASES
names = [c["name"] for c in allc]
assert len(names) == len(set(names)), [n for n in names if names.count(n) > 1]
for c in allc:
    for a in c["run"]:
        if a.startswith("{here}"):
            assert os.path.exists(a.replace("{here}", here)), a
        if a.startswith("{bin}"):
            stem = here + "/programs/" + a.split("/")[1]
            assert any(os.path.exists(stem + e) for e in (".c", ".rs", ".go")), a
with open(here + "/truth.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(c) for c in allc) + "\n]\n")
with open(here + "/expect.json", "w") as f:
    f.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v)) for k, v in cases_hang.EXPECT.items()) + "\n}\n")
print(len(cases_hang.CASES), "hang,", len(cases_benign.CASES), "benign")
