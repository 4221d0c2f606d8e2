#!/usr/bin/python3
"""Lets the corpus's hangs happen beside busy loops, again and again: does vigil ever name a wrong rank with confidence?

    bench/hangload.py --out FILE [--runs 600] [--load 2] [--jobs 10] [--wait 150] [--only REGEX] [--bin DIR] [--for S]

Each hang of tests/corpus/seen that waits and names ranks runs under `vigil run`, in turns, beside --load loops that use a
processor each. Each run's verdict is one line of FILE. What is in FILE counts: call it again after an interruption and it
goes on. --for ends it after so many seconds; --show runs nothing and prints what FILE has. VIGIL is the program
(build/src/cli/vigil).

Wrong: a rank that is not at fault was named, with high confidence (that, and not the wording of the cause, is counted).
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/corpus"))
import score  # noqa: E402

FOLDER = ROOT / "tests/corpus/seen"
SPIN = "import os\nboss = os.getppid()\nwhile os.getppid() == boss:\n    for _ in range(100000): pass"


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--out", required=True)
    p.add_argument("--runs", type=int, default=600)
    p.add_argument("--load", type=int, default=2)
    p.add_argument("--jobs", type=int, default=10)
    p.add_argument("--wait", type=float, default=150)
    p.add_argument("--for", dest="most_s", type=float, default=1e9)
    p.add_argument("--only", default="")
    p.add_argument("--vigil", default=os.environ.get("VIGIL", str(ROOT / "build/src/cli/vigil")))
    p.add_argument("--python", default="/usr/bin/python3")
    p.add_argument("--bin")
    p.add_argument("--show", action="store_true")
    return p.parse_args()


def rows_of(path):
    """What earlier calls wrote; a last line that was cut off is dropped."""
    rows = []
    for line in pathlib.Path(path).read_text().splitlines() if os.path.exists(path) else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            pass
    return rows


def innocent(truth, ranks):
    """Ranks that were named and are not at fault; a culprit that is no rank may stand for the rank that it is of."""
    c = truth["culprit"]
    if "ranks" in c:
        guilty = c["ranks"]
    elif "cycle" in c:
        guilty = [int(r[4:]) for r in c["cycle"] if r.startswith("rank") and r[4:].isdigit()] or ranks
    else:
        guilty = ranks if c.get("of_rank") is None else [c["of_rank"]]
    return [r for r in ranks if r not in guilty]


def wrong(row):
    return row.get("confidence") == "high" and bool(row["innocent"])


def show(rows):
    told = [r for r in rows if r.get("kind")]
    stood = sorted(r["stood"] for r in told) or [0]
    in_circles = [r for r in told if r["circle"]]
    most = collections.Counter(len(r["ranks"]) for r in told if not r["circle"])
    for r in rows:
        if wrong(r):
            print(f"WRONG  {r['name']} {r['id']} names {r['ranks']}: {r['text']}")
    score.show_times(rows)
    print(json.dumps({
        "runs": len(rows), "told": len(told), "silent": len(rows) - len(told),
        "wrong ranks at high confidence": sum(wrong(r) for r in told),
        "confident and wrong culprit": sum(bool(r.get("wrong")) for r in told),
        "runs by ranks named (no circle)": dict(sorted(most.items())),
        "most ranks named in a circle": max([len(r["ranks"]) for r in in_circles] or [0]),
        "stood p50": score.at(stood, 50), "stood p95": score.at(stood, 95)}))


def one(args, case, bin_dir):
    row = score.score(args, case, FOLDER, bin_dir)
    ranks = row.get("ranks", [])
    return dict(row, innocent=innocent(case["truth"], ranks), circle="cycle" in case["truth"]["culprit"])


def campaign(args, cases, rows, bin_dir):
    begin, done = time.monotonic(), collections.Counter(r["name"] for r in rows)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, open(args.out, "a") as out:
        due, running = args.runs - len(rows), set()
        while (due > 0 and time.monotonic() - begin < args.most_s) or running:
            while due > 0 and len(running) < args.jobs and time.monotonic() - begin < args.most_s:
                case = min(cases, key=lambda c: done[c["name"]])
                done[case["name"]] += 1
                due -= 1
                running.add(pool.submit(one, args, case, bin_dir))
            over, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
            for f in over:
                rows.append(f.result())
                out.write(json.dumps(rows[-1]) + "\n")
                out.flush()


def main():
    args = arguments()
    rows = rows_of(args.out)
    if not args.show:
        cases = [c for c in json.loads((FOLDER / "truth.json").read_text())
                 if c["class"] == "hang" and score.re.search(args.only, c["name"]) and not score.missing(c, args.python)]
        bin_dir = pathlib.Path(args.bin or score.tempfile.mkdtemp(prefix="hangload-"))
        bin_dir.mkdir(exist_ok=True)
        score.compiled(FOLDER, bin_dir, score.stems(cases))
        cases = [c for c in cases if os.path.exists(c["run"][0].format(here=FOLDER, python=args.python, bin=bin_dir))
                 or score.shutil.which(c["run"][0].format(here=FOLDER, python=args.python, bin=bin_dir))]
        loops = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(args.load)]
        try:
            campaign(args, cases, rows, bin_dir)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
    show(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
