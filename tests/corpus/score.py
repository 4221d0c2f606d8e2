#!/usr/bin/env python3
"""Score vigil's verdicts over a half of the corpus (tests/corpus/README.md says what the truth holds).

score.py HALF [--vigil FILE] [--jobs 8] [--wait 150] [--only REGEX] [--class hang|benign|death|memory] [--python FILE]
              [--bin DIR] [--totals] [--out FILE] [--list]

Without --class, hangs and healthy jobs; deaths and memory are scored by score_deaths.py.

Each program runs under `vigil run --on-hang kill` with a state directory of its own. A hang is scored by the first
incident of kind hang that came within --wait seconds; a healthy program must end by itself, with nothing reported.
--totals prints no case, for the half that whoever changes the judge must not see. --out: one JSON object a case.
--list: runs nothing, prints the names of the cases with class and kind of wait.
"""
import argparse, concurrent.futures, json, os, pathlib, re, shutil, signal, subprocess, sys, tempfile, time

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("half", choices=["heldout", "seen"])
    p.add_argument("--vigil", default=str(TOP / "build/src/cli/vigil"))
    p.add_argument("--jobs", type=int, default=8)
    p.add_argument("--wait", type=float, default=150)
    p.add_argument("--only", default="")
    p.add_argument("--class", dest="sort", choices=["hang", "benign", "death", "memory"])
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--bin", help="folder of compiled programs (default: a new one)")
    p.add_argument("--totals", action="store_true")
    p.add_argument("--out")
    p.add_argument("--list", action="store_true")
    return p.parse_args()


def stems(cases):
    """Names of the compiled programs that cases run."""
    return {w.rsplit("/", 1)[1] for c in cases for w in [*c["run"], *c.get("outside", [])] if w.startswith("{bin}/")}


def compiled(folder, bin_dir, wanted):
    """Compile what is wanted and not there; what cannot be compiled is missing, and its case is skipped."""
    for source in sorted(folder.rglob("*")):
        to = bin_dir / source.stem
        if to.exists() or source.stem not in wanted or source.suffix not in (".c", ".cpp", ".rs", ".go"):
            continue
        command = {".c": ["gcc", "-O1", "-g", "-pthread", source, "-o", to, "-lrt", "-lm"],
                   ".cpp": ["g++", "-O1", "-g", "-pthread", source, "-o", to],
                   ".rs": ["rustc", "-g", "-o", to, source],
                   ".go": ["go", "build", "-o", to, source]}[source.suffix]
        if shutil.which(command[0]):
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=source.parent)


def missing(case, python):
    if case.get("root") and os.geteuid():
        return "the right of root"
    for need in case.get("needs", []):
        module = subprocess.run([python, "-c", f"import {need}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not shutil.which(need) and module.returncode:
            return need
    return None


class Run:
    def __init__(self, args, case, folder, bin_dir):
        self.args, self.case = args, case
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="corpus-"))
        words = {"here": str(folder), "python": args.python, "bin": str(bin_dir)}
        argv = [a.format(**words) for a in case["run"]]
        self.absent = not (shutil.which(argv[0]) or os.path.exists(argv[0]))
        env = dict(os.environ, CORPUS_ROLES=str(self.dir / "roles"), VIGIL_STATE_DIR=str(self.dir / "state"),
                   PYTHONUNBUFFERED="")
        for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
            env.pop(name, None)
        self.env, self.begin = env, time.monotonic()
        if not self.absent:
            self.process = self.start(argv)

    def start(self, argv):
        return subprocess.Popen(
            [self.args.vigil, "run", "--name", "case", "--on-hang", "kill", "--", *argv], env=self.env, stdin=subprocess.DEVNULL,
            stdout=open(self.dir / "out", "wb"), stderr=subprocess.STDOUT, cwd=self.dir, start_new_session=True)

    def told(self):
        got = subprocess.run([self.args.vigil, "why", "case", "--all", "--json"], env=self.env, capture_output=True)
        reports = [json.loads(line) for line in got.stdout.decode(errors="replace").splitlines() if line.startswith("{")]
        return [r for r in reports if r.get("kind") in ("hang", "straggler", "slowdown")]

    def roles(self):
        found = {}
        try:
            for line in (self.dir / "roles").read_text().splitlines():
                role, pid = line.split()[:2]
                found.setdefault(role, []).append(pid)
        except (OSError, ValueError):
            pass
        return found

    def end(self):
        for sig in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                self.process.send_signal(sig)
                try:
                    self.process.wait(15)
                except subprocess.TimeoutExpired:
                    pass
        for pid in sum(self.roles().values(), []):
            try:  # its number may be another process's by now
                if f"CORPUS_ROLES={self.dir}/" in pathlib.Path(f"/proc/{int(pid)}/environ").read_text(errors="replace"):
                    os.kill(int(pid), signal.SIGKILL)
            except (OSError, ValueError):
                pass
        shutil.rmtree(self.dir, ignore_errors=True)


def words_of(report):
    texts = [report.get("summary", ""), report["cause"].get("text", ""), report["cause"]["id"].replace("_", " ")]
    texts += [e.get("text", "") for e in report.get("evidence", []) if e.get("kind") in ("waits", "lock", "wait", "stacks")]
    return " ".join(texts)


def names_pid(text, pids):
    return any(re.search(rf"(?<!\d){pid}(?!\d)", text) for pid in pids or [])


def culprit_right(truth, report, roles):
    """The culprit, or one of `also`, which have to be named in the verdict itself and not only in its evidence."""
    told = f"{report.get('summary', '')} {report['cause'].get('text', '')}"
    return is_culprit(truth["culprit"], report, roles, words_of(report)) or \
        any(is_culprit(c, report, roles, told) for c in truth.get("also", []))


def is_culprit(c, report, roles, text):
    ranks = sorted(report.get("culprit_ranks", []))
    if "ranks" in c:
        return ranks == sorted(c["ranks"])
    if "role" in c:
        of = c.get("of_rank")
        return names_pid(text, roles.get(c["role"])) and (of is None or ranks in ([], [of]))
    if "cycle" in c:
        numbers = [int(r[4:]) for r in c["cycle"] if re.fullmatch(r"rank\d+", r)]
        others = [r for r in c["cycle"] if not re.fullmatch(r"rank\d+", r)]
        return (ranks == sorted(numbers) or not numbers) and all(names_pid(text, roles.get(r)) for r in others)
    return re.search(c.get("outside") or c.get("nobody") or "$^", text) is not None


def score_hang(run, args):
    reports = []
    while time.monotonic() - run.begin < args.wait and not reports:
        time.sleep(1)
        reports = [r for r in run.told() if r["kind"] == "hang"]
        if run.process.poll() is not None and not reports:
            reports = [r for r in run.told() if r["kind"] == "hang"]
            break
    row = {"kind": bool(reports), "seconds": round(time.monotonic() - run.begin, 1)}
    truth = run.case["truth"]
    if reports:
        r = reports[0]
        stood = r.get("hang", {})
        row.update(id=r["cause"]["id"], confidence=r["cause"]["confidence"], ranks=r.get("culprit_ranks", []),
                   stood=stood.get("standstill_ms", 0) / 1000, suspected=stood.get("suspected_ms", 0) / 1000,
                   steps=bool(stood.get("steps_known")),
                   proved="proved" in r["cause"]["text"], culprit=culprit_right(truth, r, run.roles()), text=r["cause"]["text"],
                   cause=any(re.search(w, words_of(r), re.I) for w in truth["why"]))
        row["forbidden"] = any(re.search(n, words_of(r), re.I) for n in truth.get("not", []))
        row["wrong"] = (not row["culprit"] or row["forbidden"]) and row["confidence"] != "low"
        row["ended"] = run.process.poll() is not None
    return row


def score_benign(run, args):
    limit = run.case.get("seconds", 120) * 2 + 60
    try:
        code = run.process.wait(limit)
    except subprocess.TimeoutExpired:
        code = None
    reports = run.told()
    row = {"quiet": not reports, "code": code, "ended": code != 0, "seconds": round(time.monotonic() - run.begin, 1)}
    if reports:
        r = reports[0]
        row.update(id=r["cause"]["id"], confidence=r["cause"]["confidence"], ranks=r.get("culprit_ranks", []),
                   text=r["cause"]["text"])
        row["wrong"] = row["confidence"] != "low"
    return row


def score(args, case, folder, bin_dir):
    row = {"name": case["name"], "class": case["class"]}
    lacks = missing(case, args.python)
    run = None if lacks else Run(args, case, folder, bin_dir)
    if lacks or run.absent:
        return dict(row, skipped=lacks or case["run"][0])
    try:
        row.update(score_hang(run, args) if case["class"] == "hang" else score_benign(run, args))
    finally:
        run.end()
    return row


def show(row):
    if row.get("skipped"):
        return f"skip   {row['name']}: {row['skipped']} is missing"
    if row["class"] == "benign":
        good = row["quiet"] and not row["ended"]
        return f"{'ok    ' if good else 'ALARM '} {row['name']} {row['seconds']} s code {row['code']} {row.get('id', '')} " \
               f"{row.get('confidence', '')} {row.get('text', '')}"
    word = "silent" if not row["kind"] else "WRONG " if row["wrong"] else "ok    " if row["culprit"] and row["cause"] else \
        "cause " if row["culprit"] else "unsure"
    return f"{word} {row['name']} {row['seconds']} s {row.get('id', '')} {row.get('confidence', '')} " \
           f"{row.get('ranks', '')} {row.get('text', '')}"


def at(ascending, percent):
    return ascending[min(len(ascending) - 1, len(ascending) * percent // 100)]


def show_times(rows):
    """Seconds from the beginning of the standstill to the suspicion and to the verdict, by verdict, slowest first."""
    by_id = {}
    for r in rows:
        if r.get("kind") and "stood" in r:
            by_id.setdefault(r["id"] + (" (proved)" if r["proved"] else ""), []).append(r)
    for name, group in sorted(by_id.items(), key=lambda x: -max(r["stood"] for r in x[1])):
        stood, seen = sorted(r["stood"] for r in group), sorted(r["suspected"] for r in group)
        print(f"{len(group):4} {name:32} suspected p50 {at(seen, 50):5.1f}  told p50 {at(stood, 50):5.1f} p95 {at(stood, 95):5.1f}")


def stood_of(name, rows):
    """How many of a kind were told, and how long they had stood then."""
    stood = sorted(r["stood"] for r in rows) or [0]
    return {name: len(rows), f"{name} p50": at(stood, 50), f"{name} p95": at(stood, 95),
            f"{name} over 46 s": sum(s > 46 for s in stood)}


def totals(rows):
    hangs = [r for r in rows if r["class"] == "hang" and not r.get("skipped")]
    quiet = [r for r in rows if r["class"] == "benign" and not r.get("skipped")]
    times = sorted(r["seconds"] for r in hangs if r["kind"]) or [0]
    stood = sorted(r["stood"] for r in hangs if r["kind"]) or [0]
    return {"hangs": len(hangs), "told": sum(r["kind"] for r in hangs), "culprit right": sum(r.get("culprit", 0) for r in hangs),
            "cause right": sum(bool(r.get("cause")) for r in hangs), "confident and wrong": sum(r.get("wrong", 0) for r in rows),
            "seconds p50": at(times, 50), "seconds p95": at(times, 95),
            "stood p50": at(stood, 50), "stood p95": at(stood, 95), **stood_of("steps known", [r for r in hangs if r.get("steps")]),
            **stood_of("proofs", [r for r in hangs if r.get("proved")]), "most ranks named": max([len(r.get("ranks", [])) for r in rows] or [0]),
            "benign": len(quiet), "quiet": sum(r["quiet"] for r in quiet), "healthy jobs ended": sum(r["ended"] for r in quiet),
            "skipped": sum(bool(r.get("skipped")) for r in rows)}


def truths(folder):
    """The cases of every truth*.json of a half."""
    return [c for path in sorted(folder.glob("truth*.json")) for c in json.loads(path.read_text())]


def main():
    args = arguments()
    if args.sort in ("death", "memory"):
        import score_deaths
        return score_deaths.main(args)
    folder = HERE / args.half
    cases = [c for c in truths(folder) if re.search(args.only, c["name"]) and args.sort in (None, c["class"])]
    if args.list:
        print("\n".join(f"{c['name']:28} {c['class']:7} {c['wait']}" for c in cases))
        return 0
    bin_dir = pathlib.Path(args.bin or tempfile.mkdtemp(prefix="corpus-bin-"))
    bin_dir.mkdir(exist_ok=True)
    compiled(folder, bin_dir, stems(cases))
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(score, args, c, folder, bin_dir) for c in cases]):
            rows.append(done.result())
            if not args.totals:
                print(show(rows[-1]), flush=True)
    if args.out:
        pathlib.Path(args.out).write_text("".join(json.dumps(r) + "\n" for r in rows))
    if not args.totals:
        show_times(rows)
    print(json.dumps(totals(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
