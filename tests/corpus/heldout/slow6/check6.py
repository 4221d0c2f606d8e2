#!/usr/bin/env python3
"""Without vigil: do the slow jobs become slow as cases6.py tells, and do the healthy ones not? check6.py [--only REGEX] [--jobs N]
[--python FILE] [--scale 0.4]: a part of the job's time, each step as long as ever. Prints the mean step before and after, and by rank the
own part less what it waited for a processor, which on a busy machine says nothing of the job (of s6-neighbour it says all)."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent)]
import cases6  # noqa: E402
import kit6  # noqa: E402
import score  # noqa: E402


def laps_of(folder):
    rows = [line.split() for path in sorted(folder.glob("laps.*")) for line in path.read_text().splitlines()]
    return [(int(r[0]), int(r[1]), *map(float, r[2:])) for r in rows if len(r) == 6 and int(r[1]) > 1]


def run(case, args, bin_dir):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="slow-"))
    words = {"here": str(HERE.parent), "python": args.python, "bin": str(bin_dir)}
    env = dict(os.environ, CORPUS_SCALE=str(args.scale), CORPUS_LAPS=str(folder / "laps"), CORPUS_ROLES=str(folder / "roles"))
    for name in ("RANK", "WORLD_SIZE", "S6_BEGIN"):
        env.pop(name, None)
    with open(folder / "out", "wb") as out:
        p = subprocess.Popen([w.format(**words) for w in case["run"]], env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=folder,
                             start_new_session=True)
        try:
            code = p.wait(case["seconds"] * args.scale * 2 + 60)
        except subprocess.TimeoutExpired:
            code = None
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except OSError:
        pass
    laps, tail = laps_of(folder), (folder / "out").read_bytes()[-300:]
    shutil.rmtree(folder, ignore_errors=True)
    return case, code, laps, tail


def middle(values):
    return statistics.fmean(values) if values else 0


def parts(case, laps, scale):
    """By rank the mean own part before and after, and the mean step of all."""
    cut, late = case.get("onset", kit6.GOOD) * scale, case["name"] != "s6-neighbour"
    halves = [[x for x in laps if x[2] < cut - 2], [x for x in laps if x[2] > cut + 2]]
    own = {r: [middle([x[3] - late * x[5] for x in half if x[0] == r]) for half in halves] for r in sorted({x[0] for x in laps})}
    return own, [middle([x[4] for x in half]) for half in halves]


def longest(own, half, after):
    """Of the ranks' parts, and that of a server whose turn comes after them."""
    return max(v[half] for r, v in own.items() if r != after) + (own[after][half] if after else 0)


def verdict(case, code, own, step):
    if code != 0:
        return "ended with %s" % code
    before, after = (longest(own, half, case.get("after")) for half in (0, 1))
    if case["class"] == "healthy":
        return "ok %.2f" % (after / before if before else 0)
    if "since_first" in case:
        before = max(v[1] for r, v in own.items() if r != case["since_first"])
    grown = after / before if before else 0
    blamed = case["truth"]["culprit"].get("ranks", [])
    slowest = max(own, key=lambda r: own[r][1])
    if len(blamed) == 1 and slowest != blamed[0]:
        return "rank %d is slowest" % slowest
    least = min(grown, step[1] / step[0]) if step[0] else grown  # what is read ahead is no own part
    return "ok %.2f" % grown if 1.5 <= grown and least <= 4.5 else "factor %.2f" % grown


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--only", default="")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--scale", type=float, default=1)
    args = p.parse_args()
    cases = [c for c in cases6.CASES if re.search(args.only, c["name"])]
    bin_dir = pathlib.Path(tempfile.mkdtemp(prefix="corpus-bin-"))
    score.compiled(HERE, bin_dir, score.stems(cases))
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run, c, args, bin_dir) for c in cases]):
            case, code, laps, tail = done.result()
            own, step = parts(case, laps, args.scale)
            word = verdict(case, code, own, step) if laps else "no laps: %r" % tail
            bad += not word.startswith("ok")
            each = " ".join("%d: %.2f>%.2f" % (r, *v) for r, v in own.items())
            print("%-18s %s; step %.2f>%.2f; own %s" % (case["name"], word, *step, each), flush=True)
    shutil.rmtree(bin_dir, ignore_errors=True)
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
