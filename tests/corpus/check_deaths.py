#!/usr/bin/env python3
"""Without vigil: does each program of a half end as its truth tells? One line a case, exit 1 if one does not.

check_deaths.py HALF [--only REGEX] [--jobs 4] [--class death|memory] [--python FILE] [--bin DIR]

A death: exit status or signal of the process that counts (`check.exit`), and words in its output: `check.last`, or of a program
that failed by its own word one of `truth.why` (unless `check.last` is empty: it says nothing). `check.early`: that rank ends with 0 and
others fail. Which rank is gone first is not asked: peers that lose their connection may be faster than the one that failed.
Of memory, `check.shared` and `check.shm`: only that the limit is passed, as what is shared grows nobody's own memory; `check.mapped`:
mapped pages of files may go over the limit. A case of memory: the processes are sampled until their memory passes the limit, and the one that the
truth names has to be the one that grew most.
"""
import argparse, concurrent.futures, json, os, pathlib, re, shutil, signal, socket, subprocess, sys, tempfile, time

import score

HERE = pathlib.Path(__file__).resolve().parent


def environment(folder, case, rank=None, port=0):
    env = dict(os.environ, CORPUS_ROLES=str(folder / "roles"), PYTHONUNBUFFERED="")
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        env.pop(name, None)
    if rank is not None:
        env.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(case["nproc"]), MASTER_ADDR="127.0.0.1",
                   LOCAL_WORLD_SIZE=str(case["nproc"]), MASTER_PORT=str(port))
    return env


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass


class Job:
    """The ranks of a case; if one fails the rest are ended, as vigil does."""

    def __init__(self, case, half, args, bin_dir):
        self.case, self.dir = case, pathlib.Path(tempfile.mkdtemp(prefix="check-"))
        words = {"here": str(half), "python": args.python, "bin": str(bin_dir)}
        argv, port = [a.format(**words) for a in case["run"]], free_port()
        ranks = range(case["nproc"]) if case.get("nproc") else [None]
        self.out = open(self.dir / "out", "wb")
        self.ranks = [subprocess.Popen(argv, env=environment(self.dir, case, r, port), stdin=subprocess.DEVNULL,
                                       stdout=self.out, stderr=subprocess.STDOUT, cwd=self.dir, start_new_session=True)
                      for r in ranks]
        self.outside = None
        if case.get("outside"):
            self.outside = subprocess.Popen([a.format(**words) for a in case["outside"]], env=environment(self.dir, case),
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def first_failed(self, limit=60):
        end, first = time.monotonic() + limit, None
        while time.monotonic() < end:
            done = [p.poll() for p in self.ranks]
            failed = [r for r, code in enumerate(done) if code]
            if failed and first is None:
                first, end = failed, min(end, time.monotonic() + 1)
            if None not in done:
                return first or [], done
            time.sleep(0.002)
        return first or [], [p.poll() for p in self.ranks]

    def roles(self):
        try:
            rows = [line.split()[:2] for line in (self.dir / "roles").read_text().splitlines()]
        except OSError:
            rows = []
        found = {}
        for role, pid in rows:
            found.setdefault(role, []).append(int(pid))
        return found

    def end(self):
        for p in [*self.ranks, *([self.outside] if self.outside else [])]:
            end_group(p)
            p.wait()
        for pid in sum(self.roles().values(), []):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        for path in pathlib.Path("/dev/shm").glob("corpus-*"):
            if path.name.split("-")[1] in {str(p) for p in sum(self.roles().values(), [])}:
                path.unlink(missing_ok=True)
        self.out.close()
        shutil.rmtree(self.dir, ignore_errors=True)


def death(case, job):
    first, codes = job.first_failed()
    truth, check = case["truth"], case["check"]
    want = check["exit"] if isinstance(check["exit"], list) else [check["exit"]]
    rank = truth["rank"] or 0
    text = (job.dir / "out").read_bytes().decode(errors="replace")
    if "early" in check:
        return None if codes[check["early"]] == 0 and first else f"codes {codes}"
    if check["exit"] is not None and codes[rank if case.get("nproc") else 0] not in want:
        return f"codes {codes}, wanted {want}: {text[-300:]!r}"
    speaks = {"error_exit", "crash"} & set(truth["kind"]) and not any("SIG" in w for w in truth["why"])
    words = [check["last"]] if "last" in check else truth["why"] if speaks else [""]
    if not any(re.search(w, text, re.I) for w in words):
        return f"none of {words} in {text[-300:]!r}"
    for role in [truth.get("sender")]:
        if role not in (None, "self", "kernel") and role not in job.roles():
            return f"nobody took the role {role}"
    return None


def private(pid):
    """Memory that ending it would free, and all shared memory that it maps, from smaps_rollup."""
    try:
        rows = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0, 0
    kib = {r.split(":")[0]: int(r.split()[1]) for r in rows[1:]}
    return (kib["Private_Clean"] + kib["Private_Dirty"]) * 1024, kib["Pss"] * 1024


def size(text):
    return int(text[:-1]) * {"M": 1 << 20, "G": 1 << 30}[text[-1]]


def left_in_shm(job):
    pids = {str(p) for p in sum(job.roles().values(), [])}
    total = 0
    for path in pathlib.Path("/dev/shm").glob("corpus-*"):
        if path.name.split("-")[1] in pids:
            try:
                total += path.stat().st_size
            except OSError:
                pass
    return total


def look(job, start, most):
    """One look at all roles: their growth into start and most, and how much they have together (shared pages once)."""
    total = 0
    for role, pids in job.roles().items():
        for pid in pids:
            own, pss = private(pid)
            if own:
                start.setdefault((role, pid), own)
                most[role, pid] = max(most.get((role, pid), 0), own)
            total += pss
    return total


def memory(case, job):
    """Until the limit is passed or the program ends by itself: who grew most after the first look at it?"""
    who, start, most, end, top = case["truth"]["who"], {}, {}, time.monotonic() + 60, 0
    limit = size(case["limit"]) if not case["check"].get("mapped") else float("inf")
    while time.monotonic() < end and any(p.poll() is None for p in job.ranks) and top <= limit:
        shm = left_in_shm(job) if case["check"].get("shm") else 0
        top = max(top, look(job, start, most) + shm)
        time.sleep(0.05)
    if "why" in case["truth"]:
        return f"{top >> 20} MiB are over the limit" if top > limit else death(case, job)
    if top <= limit:
        return f"{top >> 20} MiB never passed the limit"
    if not who or case["check"].get("shared") or case["check"].get("shm"):
        return None
    growth = sorted(((most[k] - start[k], k[0]) for k in most), reverse=True)
    if not growth or growth[0][1] != who:
        return f"grew: {[(g >> 20, r) for g, r in growth[:4]]}, wanted {who}"
    return None


def check(case, half, args, bin_dir):
    lacks = score.missing(case, args.python)
    if lacks:
        return f"skip {case['name']}: {lacks} is missing"
    job = Job(case, half, args, bin_dir)
    try:
        wrong = (death if case["class"] == "death" else memory)(case, job)
    finally:
        job.end()
    return f"WRONG {case['name']}: {wrong}" if wrong else f"ok {case['name']}"


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("half", choices=["heldout", "seen"])
    p.add_argument("--only", default="")
    p.add_argument("--jobs", type=int, default=4)
    p.add_argument("--class", dest="sort", choices=["death", "memory"])
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--bin")
    args = p.parse_args()
    half = HERE / args.half
    cases = [c for name in sorted([*half.glob("deaths*.json"), *half.glob("memory*.json")]) for c in json.loads(name.read_text())
             if re.search(args.only, c["name"]) and args.sort in (None, c["class"])]
    bin_dir = pathlib.Path(args.bin or tempfile.mkdtemp(prefix="corpus-bin-"))
    bin_dir.mkdir(exist_ok=True)
    score.compiled(half, bin_dir, score.stems(cases))
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        told = list(pool.map(lambda c: check(c, half, args, bin_dir), cases))
    bad = [t for t in told if not t.startswith("ok")]
    print("\n".join([*bad, f"{len(told)} cases, {sum(t.startswith('WRONG') for t in told)} not as their truth tells, "
                           f"{sum(t.startswith('skip') for t in told)} skipped"]))
    return any(t.startswith("WRONG") for t in told)


if __name__ == "__main__":
    sys.exit(main())
