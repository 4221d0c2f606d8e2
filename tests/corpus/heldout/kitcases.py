"""Lists of hanging and healthy programs with their truth, from which cases5.py and cases6.py write truth5.json and truth6.json.

A rank that is to blame may be told by its number or by its pid; a job of one process has rank 0 or none."""
import json
import os
import re

from cases4 import needs, ranks, role

HIDDEN = ("see", "loud")


def command(run, here):
    """"x.py ..." with python, x.js with node, x.sh with bash, x.java with java, others compiled; "N x.py": by mpiexec; "N* x.go": as ranks."""
    words, before = run.split(), []
    if re.fullmatch(r"\d+\*", words[0]):
        before = ["{python}", "{here}/programs4/kit4.py", words.pop(0)[:-1], "--"]
    elif words[0].isdigit():
        before = ["mpiexec", "-n", words.pop(0)]
    stem, _, kind = words[0].rpartition(".")
    with_ = {"py": ["{python}"], "js": ["node"], "sh": ["bash"], "java": ["java"], "pl": ["perl"]}
    own = [*with_[kind], here + words[0]] if kind in with_ else ["{bin}/" + stem]
    return [*before, *own, *words[1:], *(["{python}"] if kind == "sh" else [])]


def all_of(n, state, *but):
    return {"rank%d" % r: state for r in range(n) if r not in but}


class Book:
    """The cases of one set: `prefix` of the names, `folder` of the programs."""

    def __init__(self, prefix, folder):
        self.prefix, self.here, self.cases = prefix, "{here}/%s/" % folder, []

    def hang(self, name, wait, run, culprit, why, about, see, also=(), **more):
        truth, also = {"culprit": culprit, "why": why.split("|")}, list(also)
        if culprit == role("main") and list(see) == ["main"]:
            also.append(ranks(0))
        if list(culprit) == ["ranks"] and len(culprit["ranks"]) == 1:
            also.append(role("rank%d" % culprit["ranks"][0], culprit["ranks"][0]))
        if also:
            truth["also"] = also
        for key in ("gone", "proved"):
            if key in more:
                truth[key] = more.pop(key)
        self.cases.append({"name": self.prefix + name, "class": "hang", "wait": wait, "run": command(run, self.here),
                           "needs": needs(run, more.pop("needs", ())), "truth": truth, "about": about, "see": see, **more})

    def quiet(self, name, wait, run, seconds, why, about, **more):
        self.cases.append({"name": self.prefix + name, "class": "benign", "wait": wait, "run": command(run, self.here),
                           "needs": needs(run, more.pop("needs", ())), "seconds": seconds, "truth": {"why_quiet": why}, "about": about, **more})

    def write(self, name):
        names = [c["name"] for c in self.cases]
        assert len(names) == len(set(names)), [n for n in names if names.count(n) > 1]
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "w") as f:
            f.write("[\n" + ",\n".join(json.dumps({k: v for k, v in c.items() if k not in HIDDEN}) for c in self.cases) + "\n]\n")
        print({k: sum(c["class"] == k for c in self.cases) for k in ("hang", "benign")})
