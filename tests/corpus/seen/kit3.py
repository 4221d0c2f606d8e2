"""Registration for programs3: each job is a function, and what is true of it stands at the function.

FILE NAME runs a job. `kit3.py` writes what all files of programs3 tell into truth.json, in place of what was there.
"""
import glob
import importlib
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "programs3")]
import kit          # noqa: E402
import kit2         # noqa: E402

JOBS, TRUTH = {}, []


def _file(fn):
    return "{here}/programs3/" + os.path.basename(fn.__code__.co_filename)


def told(name, sort, wait, about, run, truth, **more):
    row = {"name": name, "class": sort, "wait": wait, "run": run, "needs": more.pop("needs", []), **more, "truth": truth,
           "about": about}
    TRUTH.append(row)


def hang(name, wait, culprit, why, ranks=1, check=None, proved=False, forbid=None, **more):
    """A job that hangs. culprit: README's forms. forbid: regexes that must not be in the verdict's text."""
    def put(fn):
        truth = {"culprit": culprit, "why": [why], "proved": proved}
        if forbid:
            truth["not"] = forbid
        told(name, "hang", wait, (fn.__doc__ or name).strip(), ["{python}", _file(fn), name], truth, check=check or {}, **more)
        JOBS[name] = (ranks, fn)
        return fn
    return put


def quiet(name, wait, seconds, ranks=1, **more):
    """A healthy job; its docstring says why nobody may be told anything."""
    def put(fn):
        about = (fn.__doc__ or name).strip()
        told(name, "benign", wait, about, ["{python}", _file(fn), name], {"why_quiet": about}, seconds=seconds, **more)
        JOBS[name] = (ranks, fn)
        return fn
    return put


def run():
    ranks, fn = JOBS[sys.argv[1]]
    kit.main(ranks, fn)


def steps(n=6, every=0.4, style="plain", first=0):
    for i in range(first, first + n):
        kit2.log(i, style)
        time.sleep(every)


def work(seconds, share=0.15):
    """Computes with a share of one processor, so that several of these fit on a small machine."""
    end = time.monotonic() + kit.secs(seconds)
    while time.monotonic() < end:
        till = time.thread_time() + share * 0.2
        while time.thread_time() < till:
            sum(i * i for i in range(200))
        time.sleep(0.2 * (1 - share))


def main():
    for path in sorted(glob.glob(os.path.join(HERE, "programs3", "*.py"))):
        importlib.import_module(os.path.basename(path)[:-3])
    rows = sys.modules["kit3"].TRUTH
    path = os.path.join(HERE, "truth.json")
    with open(path) as f:
        old = [r for r in json.load(f) if not any("/programs3/" in w for w in r["run"]) and r["name"] not in {n["name"] for n in rows}]
    with open(path, "w") as f:
        json.dump(old + rows, f, indent=1)


if __name__ == "__main__":
    main()
