#!/usr/bin/env python3
"""Run the programs of truth.json without vigil and see that each reaches the state that its truth tells.

check.py [-j N] [--python P] [--bin D] [--scale X] [--class hang|benign] [--json F] [NAME...]

hang: starts the program, waits until no output has come for --quiet seconds, then looks at every process of the roles file:
all processes named by the truth are there, the threads named in "check" (role -> regex over "state syscall wchan" of the
main thread; "role*" -> of any thread) match, and the CPU that all use together in 2 s is below "cpu" (0.25 cores).
benign: the program must end by itself with 0 after about "seconds".
"""
import argparse, json, os, re, shutil, signal, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
CALLS = {0: "read", 1: "write", 7: "poll", 20: "writev", 22: "pipe", 23: "select", 35: "nanosleep", 34: "pause", 42: "connect", 43: "accept", 288: "accept4",
         44: "sendto", 45: "recvfrom", 46: "sendmsg", 47: "recvmsg", 61: "wait4", 65: "semop", 69: "msgsnd", 70: "msgrcv", 72: "fcntl", 73: "flock",
         128: "rt_sigtimedwait", 130: "rt_sigsuspend", 202: "futex", 220: "semtimedop", 230: "clock_nanosleep", 232: "epoll_wait", 242: "mq_timedsend",
         243: "mq_timedreceive", 247: "waitid", 257: "openat", 270: "pselect6", 271: "ppoll", 281: "epoll_pwait", 289: "signalfd", 441: "epoll_pwait2"}


def slurp(p):
    try:
        with open(p, "rb") as f:
            return f.read().decode(errors="replace")
    except OSError:
        return ""


def threads(pid):
    out = []
    try:
        tids = sorted(map(int, os.listdir(f"/proc/{pid}/task")))
    except OSError:
        return out
    for t in tids:
        b = f"/proc/{pid}/task/{t}/"
        st = slurp(b + "stat").rsplit(")", 1)
        if len(st) < 2:
            continue
        f = st[1].split()
        nr = slurp(b + "syscall").split()
        call = nr[0] if nr else "?"
        if call.isdigit():
            call = CALLS.get(int(call), call)
        out.append((t, f[0], call, slurp(b + "wchan").strip(), int(f[11]) + int(f[12])))
    return out


def mine(mark):
    out = []
    for p in os.listdir("/proc"):
        if p.isdigit() and f"CORPUS_ROLES={mark}\0" in slurp(f"/proc/{p}/environ"):
            out.append(int(p))
    return out


def have(needs, python):
    for n in needs:
        if shutil.which(n) is None and subprocess.run([python, "-c", f"import {n}"], capture_output=True).returncode:
            return n
    return None


def end(mark, proc):
    proc.terminate()
    try:
        proc.wait(5)
    except subprocess.TimeoutExpired:
        pass
    time.sleep(1.5)          # servers outside the job see the end of the launcher within a second
    left = mine(mark)
    for _ in range(4):
        rest = mine(mark)
        if not rest:
            break
        for p in rest:
            try:
                os.kill(p, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.3)
    proc.kill()
    proc.wait()
    return left


def one(case, a):
    res = {"name": case["name"], "class": case["class"], "ok": False, "notes": []}
    lack = have(case.get("needs", []), a.python)
    if lack:
        res["notes"].append(f"skipped: no {lack}")
        res["skipped"] = True
        return res
    d = tempfile.mkdtemp(prefix="chk")
    mark = d + "/roles"
    argv = [x.format(here=HERE, python=a.python, bin=a.bin) for x in case["run"]]
    env = dict(os.environ, CORPUS_ROLES=mark, TMPDIR=d)
    if a.scale != 1:
        env["CORPUS_SCALE"] = str(a.scale)
    out = open(d + "/out", "wb")
    t0 = time.time()
    proc = subprocess.Popen(["nice", "-n", "19", *argv], stdout=out, stderr=subprocess.STDOUT, env=env, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        if case["class"] == "benign":
            limit = case["seconds"] * (a.scale if a.scale < 1 else 1) + 60
            try:
                rc = proc.wait(limit)
            except subprocess.TimeoutExpired:
                rc = "too long"
            took = time.time() - t0
            res["seconds"] = round(took, 1)
            if rc != 0:
                res["notes"].append(f"ended with {rc}")
            elif a.scale == 1 and (took < 58 or took > 155 or abs(took - case["seconds"]) > 20):
                res["notes"].append(f"took {took:.0f}, truth says {case['seconds']}")
            else:
                res["ok"] = True
            if not re.search(r"\w", slurp(d + "/out")) and not case.get("mute"):
                res["notes"].append("no output")
            if "Traceback" in slurp(d + "/out") or rc != 0:
                res["notes"].append(slurp(d + "/out")[-1500:])
            time.sleep(2)
            left = mine(mark)
            if left:
                res["notes"].append(f"left behind {len(left)}")
                res["ok"] = False
            return res
        last, size = time.time(), -1
        lastcpu = 0
        while time.time() - t0 < 90 and time.time() - last < a.quiet + case.get("settle", 0):
            time.sleep(0.25)
            n = os.path.getsize(d + "/out")
            if n != size:
                size, last = n, time.time()
            if proc.poll() is not None:
                break
        text = slurp(d + "/out")
        if proc.poll() is not None:
            res["notes"].append(f"ended with {proc.returncode}: {text[-1500:]}")
            return res
        if "Traceback" in text and not case.get("loud"):
            res["notes"].append(text[-1500:])
        roles = {}
        for line in slurp(mark).splitlines():
            r, p = line.split()
            roles[r] = int(p)
        pids = mine(mark)
        cpu0 = {p: sum(t[4] for t in threads(p)) for p in pids}
        first = {p: [t[:4] for t in threads(p)] for p in pids}
        time.sleep(2)
        cpu = sum(sum(t[4] for t in threads(p)) - cpu0[p] for p in pids) / 2 / os.sysconf("SC_CLK_TCK")
        res["cpu"] = round(cpu, 2)
        res["rss_mb"] = 0
        for p in pids:
            m = re.search(r"VmRSS:\s+(\d+)", slurp(f"/proc/{p}/status"))
            res["rss_mb"] += int(m.group(1)) // 1024 if m else 0
        res["threads"] = {r: [" ".join(t[1:4]) for t in threads(p)] for r, p in sorted(roles.items())}
        lo, hi = case.get("cpu", [0, 0.25])
        good = True
        if not lo <= cpu <= hi:
            good = False
            res["notes"].append(f"cpu {cpu:.2f} not in {lo}..{hi}")
        c = case["truth"]["culprit"]
        need = [f"rank{r}" for r in c.get("ranks", [])] + c.get("cycle", []) + ([c["role"]] if "role" in c else [])
        for r in need:
            if r not in roles or not threads(roles[r]) and not case.get("gone"):
                good = False
                res["notes"].append(f"culprit {r} is not alive")
        for r, rx in case.get("check", {}).items():
            names = [r.rstrip("*")] if r != "others" else [x for x in roles if re.fullmatch(r"rank\d+", x) and x not in case["check"] and x + "*" not in case["check"]]
            for nme in names:
                ths = res["threads"].get(nme, [])
                look = ths if r.endswith("*") else ths[:1]
                if not any(re.search(rx, t) for t in look):
                    good = False
                    res["notes"].append(f"{nme}: /{rx}/ not in {look}")
        if not case.get("check"):
            good = False
            res["notes"].append("no check")
        if size == 0 and not case.get("mute"):
            res["notes"].append("no output")
        res["ok"] = good
        return res
    finally:
        left = end(mark, proc)
        if left:
            res["notes"].append(f"the launcher left {len(left)} behind: " + ",".join(r for r, p in roles.items() if p in left) if case["class"] == "hang" and "roles" in dir() else "left")
        out.close()
        shutil.rmtree(d, ignore_errors=True)


def build(cases, bindir):
    os.makedirs(bindir, exist_ok=True)
    for c in cases:
        m = next(filter(None, (re.match(r"\{bin\}/(.+)", w) for w in c["run"])), None)
        if not m or os.path.exists(f"{bindir}/{m.group(1)}"):
            continue
        src, dst = f"{HERE}/programs/{m.group(1)}", f"{bindir}/{m.group(1)}"
        for folder in ("programs2", "programs3"):
            if not any(os.path.exists(src + e) for e in (".c", ".cpp", ".rs", ".go")):
                src = f"{HERE}/{folder}/{m.group(1)}"
        if os.path.exists(src + ".c"):
            cmd = ["gcc", "-O1", "-g", "-Wall", "-pthread", src + ".c", "-o", dst, "-lrt"]
        elif os.path.exists(src + ".cpp"):
            cmd = ["g++", "-O1", "-g", "-Wall", "-pthread", src + ".cpp", "-o", dst]
        elif os.path.exists(src + ".rs") and shutil.which("rustc"):
            cmd = ["rustc", "-g", src + ".rs", "-o", dst]
        elif os.path.exists(src + ".go") and shutil.which("go"):
            cmd = ["go", "build", "-o", dst, src + ".go"]
        else:
            continue
        subprocess.run(["nice", "-n", "19", *cmd], check=False)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("names", nargs="*")
    ap.add_argument("-j", type=int, default=1)
    ap.add_argument("--python", default=sys.executable)
    ap.add_argument("--bin", default=os.path.join(HERE, "bin"))
    ap.add_argument("--scale", type=float, default=1)
    ap.add_argument("--quiet", type=float, default=5)
    ap.add_argument("--class", dest="cls")
    ap.add_argument("--json")
    ap.add_argument("-v", action="store_true")
    a = ap.parse_args()
    with open(os.path.join(HERE, "truth.json")) as f:
        cases = json.load(f)
    cases = [c for c in cases if (not a.names or c["name"] in a.names) and (not a.cls or c["class"] == a.cls)]
    build(cases, a.bin)
    done = []
    with ThreadPoolExecutor(a.j) as ex:
        for r in ex.map(lambda c: one(c, a), cases):
            done.append(r)
            if a.json:
                with open(a.json, "w") as f:
                    json.dump(done, f, indent=1)
            word = "skip" if r.get("skipped") else "ok" if r["ok"] else "BAD"
            print(f"{word:4} {r['class']:6} {r['name']:24} cpu {r.get('cpu', '-')} s {r.get('seconds', '-')} mb {r.get('rss_mb', '-')} {' | '.join(r['notes'])}", flush=True)
            if a.v or not r["ok"]:
                for k, v in r.get("threads", {}).items():
                    print("      ", k, v)
    print(f"{sum(r['ok'] for r in done)} of {len(done)} as told, {sum(bool(r.get('skipped')) for r in done)} skipped")
    return 0 if all(r["ok"] or r.get("skipped") for r in done) else 1


if __name__ == "__main__":
    sys.exit(main())
