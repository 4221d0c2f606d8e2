"""The classes death and memory of score.py: each job runs to its end, then the report of `vigil why` is held against the truth."""
import concurrent.futures, json, os, pathlib, re, shutil, signal, subprocess, tempfile, time

import score

HERE = pathlib.Path(__file__).resolve().parent


class Run:
    def __init__(self, args, case, folder, bin_dir):
        self.args, self.case = args, case
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="corpus-"))
        words = {"here": str(folder), "python": args.python, "bin": str(bin_dir)}
        env = dict(os.environ, CORPUS_ROLES=str(self.dir / "roles"), VIGIL_STATE_DIR=str(self.dir / "state"), PYTHONUNBUFFERED="")
        for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
            env.pop(name, None)
        options = ["--nproc", str(case["nproc"])] if case.get("nproc") else []
        options += ["--memory-limit", case["limit"]] if case.get("limit") else []
        command = [args.vigil, "run", "--name", "case", *options, "--", *[a.format(**words) for a in case["run"]]]
        self.env, self.begin, self.outside = env, time.monotonic(), None
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=open(self.dir / "out", "wb"),
                                        stderr=subprocess.STDOUT, cwd=self.dir, start_new_session=True)
        if case.get("outside"):
            self.outside = subprocess.Popen([a.format(**words) for a in case["outside"]], env=env, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def report(self, limit=120):
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        got = subprocess.run([self.args.vigil, "why", "case", "--json"], env=self.env, capture_output=True)
        rows = [json.loads(line) for line in got.stdout.decode(errors="replace").splitlines() if line.startswith("{")]
        return rows[-1] if rows else None

    roles = score.Run.roles

    def end(self):
        for p in [self.process, *([self.outside] if self.outside else [])]:
            for sig in (signal.SIGTERM, signal.SIGKILL):
                if p.poll() is None:
                    p.send_signal(sig)
                    try:
                        p.wait(10)
                    except subprocess.TimeoutExpired:
                        pass
        for pid in sum(self.roles().values(), []):
            try:
                os.kill(int(pid), signal.SIGKILL)
            except (OSError, ValueError):
                pass
        for path in pathlib.Path("/dev/shm").glob("corpus-*"):
            if path.name.split("-")[1] in sum(self.roles().values(), []):
                path.unlink(missing_ok=True)
        shutil.rmtree(self.dir, ignore_errors=True)


def listed(x):
    return x if isinstance(x, list) else [x]


def cause_words(report):
    cause = report.get("cause", {})
    return cause.get("text", ""), " ".join([report.get("summary", ""), cause.get("text", "")]), cause.get("id", "")


def cause_right(truth, report):
    _, words, name = cause_words(report)
    why, nots = truth.get("why") or truth.get("what") or [""], truth.get("not", [])
    paths = " ".join(s.get("path", "") for s in report.get("shm", [])) if "what" in truth else ""
    return any(re.search(w, f"{words} {paths}", re.I | re.S) for w in why) and \
        not any(re.search(n, f"{name} {name.replace('_', ' ')} {words}", re.I | re.S) for n in nots)


def shallow(truth, report):
    """True and not enough: no right answer, but no wrong one."""
    return cause_right(dict(truth, why=truth.get("shallow") or ["$^"]), report)


def sender_right(truth, report, roles):
    sender = truth.get("sender")
    words = " ".join([cause_words(report)[1], report.get("killer_text", "")])
    if sender == "self":
        return re.search(r"\bitself\b|its own|\bby self\b", words, re.I) is not None
    if sender == "kernel":
        return re.search(r"kernel|timer|limit", words, re.I) is not None
    return sender is None or score.names_pid(words, roles.get(sender))


def rank_right(truth, report):
    if truth.get("rank") is None:
        return True
    ranks = report.get("culprit_ranks", [])
    return ranks == [truth["rank"]] if ranks else report.get("victim", {}).get("rank") == truth["rank"]


def who_right(truth, report, roles):
    """Of memory: the text names who grew, or nobody and it is first of growers; nobody innocent is named without it."""
    text = cause_words(report)[0]
    named = score.names_pid(text, roles.get(truth["who"]))
    blamed = any(score.names_pid(text, roles.get(r)) for r in truth.get("innocent", []))
    first = str((report.get("growers") or [{}])[0].get("pid"))
    alone = not truth.get("innocent") and str(report.get("victim", {}).get("pid")) in roles.get(truth["who"], [])
    return named or alone or (not blamed and first in roles.get(truth["who"], [])), blamed and not named


def nameless(case, report):
    """The names of the programs often say what is wrong with them: no answer is right for repeating them."""
    text = json.dumps(report)
    for word in case["run"]:
        stem = pathlib.PurePath(word).stem
        if word[0] == "{" and stem != "{python}":
            text = text.replace(stem, "program").replace(stem[:15], "program")
    return json.loads(text)


def judge(truth, report, roles):
    row = {"kind": report.get("kind"), "id": report.get("cause", {}).get("id"), "confidence": report.get("cause", {}).get("confidence"),
           "killer": report.get("killer"), "ranks": report.get("culprit_ranks"), "text": cause_words(report)[0] or report.get("summary", ""),
           "kind_ok": report.get("kind") in listed(truth.get("kind")), "cause_ok": cause_right(truth, report)}
    row["killer_ok"] = report.get("killer", "none") in listed(truth["killer"])
    row["sender_ok"] = sender_right(truth, report, roles)
    sure = row["confidence"] in ("medium", "high")
    foreign = not row["killer_ok"] and row["killer"] not in (None, "none", "unknown")
    if truth.get("who"):
        words, ranks = cause_words(report)[1], [truth["rank"]] if truth.get("rank") is not None else []
        row["named"] = score.names_pid(words, roles.get(truth["who"])) or \
            any(re.search(rf"\brank {r}\b", words, re.I) for r in ranks)
        row["who_ok"], slandered = who_right(truth, report, roles)
        row["wrong"] = sure and (slandered or any(re.search(n, row["text"], re.I) for n in truth["not"]))
    else:
        row["who_ok"] = rank_right(truth, report)
        false = not row["cause_ok"] and not shallow(truth, report)
        row["wrong"] = sure and (false or not row["who_ok"] or foreign)
    if truth["kind"] == ["clean_exit"]:
        row["wrong"] = not row["kind_ok"]
    row["right"] = all(row[k] for k in ("kind_ok", "cause_ok", "killer_ok", "sender_ok", "who_ok"))
    return row


def score_case(args, case, folder, bin_dir):
    row = {"name": case["name"], "class": case["class"]}
    lacks = score.missing(case, args.python)
    if lacks:
        return dict(row, skipped=lacks)
    run = Run(args, case, folder, bin_dir)
    try:
        report = run.report()
        row["seconds"] = round(time.monotonic() - run.begin, 1)
        row.update(judge(case["truth"], nameless(case, report), run.roles()) if report else {"silent": True, "right": False})
    finally:
        run.end()
    return row


def show(row):
    if row.get("skipped"):
        return f"skip   {row['name']}: {row['skipped']} is missing"
    if row.get("silent"):
        return f"silent {row['name']}"
    off = [k[:-3] for k in ("kind_ok", "cause_ok", "killer_ok", "sender_ok", "who_ok") if not row[k]]
    word = "ok    " if row["right"] else "WRONG " if row["wrong"] else "off   "
    return f"{word} {row['name']} {'!' + ','.join(off) if off else ''} [{row['kind']} {row['id']} {row['confidence']} " \
           f"killer {row['killer']} ranks {row['ranks']}] {row['text']}"


def totals(rows):
    ran = [r for r in rows if not r.get("skipped")]
    count = {k: sum(bool(r.get(k)) for r in ran) for k in ("right", "kind_ok", "cause_ok", "killer_ok", "sender_ok", "who_ok", "wrong")}
    named = {"named in the text": sum(bool(r.get("named")) for r in ran)} if any("named" in r for r in ran) else {}
    return {"cases": len(ran), "right": count["right"], "kind right": count["kind_ok"], "cause right": count["cause_ok"],
            "killer right": count["killer_ok"], "sender right": count["sender_ok"], "rank or process right": count["who_ok"], **named,
            "confident and wrong": count["wrong"], "silent": sum(bool(r.get("silent")) for r in ran),
            "skipped": len(rows) - len(ran)}


def main(args):
    folder = HERE / args.half
    names = {"death": "deaths*.json", "memory": "memory*.json"}[args.sort]
    cases = [c for name in sorted(folder.glob(names)) for c in json.loads(name.read_text()) if re.search(args.only, c["name"])]
    if args.list:
        print("\n".join(f"{c['name']:28} {c['class']}" for c in cases))
        return 0
    bin_dir = pathlib.Path(args.bin or tempfile.mkdtemp(prefix="corpus-bin-"))
    bin_dir.mkdir(exist_ok=True)
    score.compiled(folder, bin_dir, score.stems(cases))
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for done in concurrent.futures.as_completed([pool.submit(score_case, args, c, folder, bin_dir) for c in cases]):
            rows.append(done.result())
            if not args.totals:
                print(show(rows[-1]), flush=True)
    if args.out:
        pathlib.Path(args.out).write_text("".join(json.dumps(r) + "\n" for r in rows))
    print(json.dumps(totals(rows)))
    return 0
