#!/usr/bin/env python3
"""Score what vigil tells of slow jobs (heldout/slow*, their truth in truth_slow*.json).

score_slow.py [--vigil FILE] [--only REGEX] [--jobs N] [--totals] [--python FILE] [--bin DIR] [--out FILE] [--list]

Each program runs to its end under `vigil run` with a state directory of its own (210 s each; three at once are enough for two cores). Of a
slow job the first incident of kind straggler or slowdown is scored; a healthy one must have none, and no job may be called a hang or ended.
--totals prints no case, for whoever changes the judge. --out: one JSON object a case.
"""
import argparse
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import score as hangs

FOLDER = hangs.HERE / "heldout"
TRUTHS = sorted(FOLDER.glob("slow*/truth_slow*.json"))


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("--vigil", default=str(hangs.TOP / "build/src/cli/vigil"))
    p.add_argument("--only", default="")
    p.add_argument("--jobs", type=int, default=3)
    p.add_argument("--totals", action="store_true")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--bin", help="folder of compiled programs (default: a new one)")
    p.add_argument("--out")
    p.add_argument("--list", action="store_true")
    return p.parse_args()


def is_slow(report):
    return report["kind"] in ("straggler", "slowdown")


def fair(case, report):
    """Of an own server, which is no rank: either no rank is named, or all of them are."""
    named = sorted(report.get("culprit_ranks", []))
    return "world" not in case or named in ([], list(range(case["world"])))


def right(case, report, roles):
    return is_slow(report) and fair(case, report) and hangs.culprit_right(case["truth"], report, roles)


def wrong(case, report, roles):
    """Confident and wrong: a healthy job, a hang that is none, or somebody blamed who is not to blame. Nobody named is not wrong."""
    if report["cause"]["confidence"] == "low":
        return False
    if case["class"] == "healthy" or not is_slow(report):
        return True
    return bool(report.get("culprit_ranks")) and not right(case, report, roles)


def judge(case, reports, roles, code):
    """The row of a case from its reports (of kinds hang, straggler, slowdown), oldest first."""
    told = [r for r in reports if is_slow(r)]
    row = {"name": case["name"], "class": case["class"], "told": bool(told), "hang": len(told) < len(reports), "ended": code != 0,
           "code": code, "wrong": any(wrong(case, r, roles) for r in reports), "quiet": not reports}
    for r in (told or reports)[:1]:
        row.update(kind=r["kind"], id=r["cause"]["id"], confidence=r["cause"]["confidence"], ranks=r.get("culprit_ranks", []),
                   text=r["cause"].get("text", ""), ratio=r.get("hang", {}).get("slower_ratio"))
    if told and case["class"] == "slow":
        row.update(kind_right=told[0]["kind"] in case["truth"]["kind"], rank_right=right(case, told[0], roles),
                   cause_right=any(re.search(w, hangs.words_of(told[0]), re.I) for w in case["truth"]["why"]))
    return row


def run(args, case, bin_dir):
    lacks = hangs.missing(case, args.python)
    job = None if lacks else hangs.Run(args, case, FOLDER, bin_dir)
    if lacks or job.absent:
        return {"name": case["name"], "class": case["class"], "skipped": lacks or case["run"][0]}
    try:
        try:
            code = job.process.wait(case["seconds"] * 3 + 60)
        except subprocess.TimeoutExpired:
            code = None
        seconds = round(time.monotonic() - job.begin, 1)
        reports = sorted(job.told(), key=lambda r: r.get("time_unix_ms", 0))
        return dict(judge(case, reports, job.roles(), code), seconds=seconds)
    finally:
        job.end()


def show(row):
    if row.get("skipped"):
        return f"skip   {row['name']}: {row['skipped']} is missing"
    if row["class"] == "healthy":
        word = "ok    " if row["quiet"] and not row["ended"] else "ALARM "
    elif row["told"]:
        word = "WRONG " if row["wrong"] else "unsure" if not row["rank_right"] else "ok    " if row["cause_right"] else "rank  "
    else:
        word = "WRONG " if row["wrong"] else "silent"
    return f"{word} {row['name']} {row['seconds']} s code {row['code']} {row.get('kind', '')} {row.get('id', '')} " \
           f"{row.get('confidence', '')} {row.get('ranks', '')} {row.get('text', '')}"


def totals(rows):
    run_ = [r for r in rows if not r.get("skipped")]
    slow = [r for r in run_ if r["class"] == "slow"]
    healthy = [r for r in run_ if r["class"] == "healthy"]
    counted = {name: sum(bool(r.get(key)) for r in slow) for name, key in
               (("told", "told"), ("kind right", "kind_right"), ("rank right", "rank_right"), ("cause right", "cause_right"))}
    return {"slow": len(slow), **counted, "rank and cause right": sum(bool(r.get("rank_right") and r["cause_right"]) for r in slow),
            "confident and wrong": sum(r["wrong"] for r in run_), "called a hang": sum(r["hang"] for r in run_),
            "healthy": len(healthy), "quiet": sum(r["quiet"] for r in healthy), "jobs ended": sum(r["ended"] for r in run_),
            "skipped": len(rows) - len(run_)}


def main():
    args = arguments()
    cases = [c for path in TRUTHS for c in json.loads(path.read_text()) if re.search(args.only, c["name"])]
    if args.list:
        print("\n".join(f"{c['name']:20} {c['class']}" for c in cases))
        return 0
    with tempfile.TemporaryDirectory(prefix="corpus-bin-") as own:
        bin_dir, rows = pathlib.Path(args.bin or own), []
        bin_dir.mkdir(exist_ok=True)
        for path in TRUTHS:
            hangs.compiled(path.parent, bin_dir, hangs.stems(cases))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for done in concurrent.futures.as_completed([pool.submit(run, args, c, bin_dir) for c in cases]):
                rows.append(done.result())
                if not args.totals:
                    print(show(rows[-1]), flush=True)
    if args.out:
        pathlib.Path(args.out).write_text("".join(json.dumps(r) + "\n" for r in rows))
    print(json.dumps(totals(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
