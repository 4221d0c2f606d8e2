#!/usr/bin/env python3
"""Run every case without any watcher and see that it does what truth.json says.

check.py [-j N] [-k REGEX] [--class hang|benign] [--bin DIR] [--python P] [--new]
hang: alive after its steps stopped, same waits at two looks 3 s apart, roles' states as in expect.json.
benign: ends by itself with 0 within `seconds` (+- 20 s). Results are appended to checked.jsonl (ignored)."""
import argparse
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NR = {0: "read", 1: "write", 7: "poll", 17: "pread", 19: "readv", 20: "writev", 22: "pipe", 23: "select", 34: "pause",
      35: "nanosleep", 42: "connect", 43: "accept", 44: "sendto", 45: "recvfrom", 46: "sendmsg", 47: "recvmsg", 61: "wait4",
      62: "kill", 65: "semop", 69: "msgsnd", 70: "msgrcv", 72: "fcntl", 73: "flock", 24: "sched_yield", 128: "sigtimedwait",
      130: "sigsuspend", 202: "futex", 220: "semtimedop", 230: "nanosleep", 232: "epoll_wait", 242: "mq_timedsend",
      243: "mq_timedreceive", 247: "waitid", 257: "openat", 270: "pselect6", 271: "ppoll", 281: "epoll_wait", 288: "accept",
      441: "epoll_wait", 83: "mkdir", 74: "fsync"}


def kids_of(pid):
    sys.path.insert(0, HERE)
    import kit
    return kit.descendants(pid)


def threads(pid):
    out = []
    try:
        tids = sorted(os.listdir("/proc/%d/task" % pid), key=int)
    except OSError:
        return out
    for t in tids:
        base = "/proc/%d/task/%s/" % (pid, t)
        try:
            st = open(base + "stat").read()
            f = st[st.rindex(")") + 2:].split()
            sc = open(base + "syscall").read().split()
            call = NR.get(int(sc[0]), sc[0]) if sc[0].lstrip("-").isdigit() else sc[0]
            try:
                wchan = open(base + "wchan").read()
            except OSError:
                wchan = "?"
            out.append((int(t), f[0], call, wchan, int(f[11]) + int(f[12])))
        except (OSError, ValueError):
            pass
    return out


def roles(path):
    out = {}
    try:
        for ln in open(path):
            r, p = ln.split()
            out[r] = int(p)
    except OSError:
        pass
    return out


def missing(case):
    for n in case.get("needs", []):
        if shutil.which(n):
            continue
        if subprocess.call([PY, "-c", "import " + n], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            return n
    return None


def start(case, tmp):
    argv = [a.replace("{here}", HERE).replace("{python}", PY).replace("{bin}", BIN) for a in case["run"]]
    env = dict(os.environ, CORPUS_ROLES=tmp + "/roles", TMPDIR=tmp)
    for k in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        env.pop(k, None)
    out = open(tmp + "/out", "wb")
    return subprocess.Popen(argv, env=env, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)


def stop(p, rmap):
    left = kids_of(p.pid)
    p.terminate()
    try:
        p.wait(5)
    except subprocess.TimeoutExpired:
        p.kill()
        p.wait()
    time.sleep(0.4)
    alive = [k for k in set(left) | set(rmap.values()) if os.path.exists("/proc/%d" % k) and
             open("/proc/%d/stat" % k).read().rsplit(")", 1)[1].split()[0] != "Z"]
    time.sleep(1.0 if alive else 0)
    alive = [k for k in alive if os.path.exists("/proc/%d" % k)]
    for k in alive:
        try:
            os.kill(k, signal.SIGKILL)
        except OSError:
            pass
    return alive


def pystack(pid):
    spy = os.path.join(os.path.dirname(PY), "py-spy")
    if not os.path.exists(spy):
        return ""
    try:
        return subprocess.run([spy, "dump", "--nonblocking", "-p", str(pid)], capture_output=True, text=True, timeout=20).stdout
    except subprocess.TimeoutExpired:
        return ""


def hang(case, tmp):
    t0 = time.time()
    p = start(case, tmp)
    size, since = -1, t0
    while True:
        time.sleep(0.5)
        if p.poll() is not None:
            return False, "ended by itself rc %s" % p.returncode, open(tmp + "/out", errors="replace").read()[-800:]
        n = os.path.getsize(tmp + "/out")
        if n != size:
            size, since = n, time.time()
        if time.time() - since > 4 and time.time() - t0 > 8.5:
            break
        if time.time() - t0 > 60:
            stop(p, {})
            return False, "output never stopped", ""
    rmap = roles(tmp + "/roles")
    look = {r: threads(q) for r, q in rmap.items()}
    time.sleep(3)
    look2 = {r: threads(q) for r, q in rmap.items()}
    cpu = sum(t[4] for v in look2.values() for t in v) - sum(t[4] for v in look.values() for t in v)
    text, bad = [], []
    exp = EXPECT.get(case["name"], {})
    for r in rmap:
        text.append("%-10s %s" % (r, " | ".join("%s %s %s" % t[1:4] for t in look2[r][:5]) or "gone"))
        if r in exp:
            want = exp[r]
            any_thread = want.startswith("*")
            got = ["%s %s %s" % t[1:4] for t in look2[r]] or ["gone"]
            old = ["%s %s %s" % t[1:4] for t in look[r]] or ["gone"]
            pool = [g for g in got if g in old] if any_thread else (got[:1] if got[:1] == old[:1] or want.startswith("~") else ["moved"])
            if not any(re.search(want.lstrip("*~"), g) for g in pool):
                bad.append("%s: wanted %s got %s" % (r, want, pool))
    for r in exp:
        if r not in rmap:
            bad.append("no role " + r)
    if not exp:
        bad.append("no expectation")
    spin = "spin" in exp.get("", "") or any("R" == v for v in exp.values())
    limit = 700 if spin or exp.get("cpu") else 45
    if cpu > limit:
        bad.append("cpu %d ticks in 3 s" % cpu)
    if os.environ.get("STACKS"):
        for r, q in rmap.items():
            text.append("--- " + r + "\n" + pystack(q))
    where = []
    for r in exp:
        if r in rmap and look2[r] and "futex" in exp[r]:
            m = [ln.strip() for ln in pystack(rmap[r]).splitlines() if "programs/" in ln or re.search(r"\((\w+)\.py", ln)]
            mine = [k for k, ln in enumerate(m) if re.search(r"[/(]" + re.escape(case["run"][1].split("/")[-1].split()[0]) + r":\d", ln)]
            if mine:
                where.append("%s at %s" % (r, m[mine[0]].split("/")[-1].rstrip(")")))
    out = open(tmp + "/out", errors="replace").read()
    left = stop(p, rmap)
    if left:
        bad.append("left over %s" % [[r for r in rmap if rmap[r] == k] for k in left])
    if "Traceback" in out:
        text.append(out[-600:])
    return not bad, "; ".join(bad) or "cpu %d, steps %d; %s" % (cpu, len(re.findall("step ", out)), ", ".join(where)), "\n".join(text)


def benign(case, tmp):
    t0 = time.time()
    p = start(case, tmp)
    try:
        rc = p.wait(case["seconds"] + 90)
    except subprocess.TimeoutExpired:
        stop(p, roles(tmp + "/roles"))
        return False, "did not end", ""
    took = time.time() - t0
    rmap = roles(tmp + "/roles")
    time.sleep(2.6)
    left = [r for r, k in rmap.items() if os.path.exists("/proc/%d" % k)]
    for r in left:
        os.kill(rmap[r], signal.SIGKILL)
    ok = rc == 0 and 55 <= took <= 165 and abs(took - case["seconds"]) < 20 and not left
    return ok, "rc %s took %.0f s (said %s) left %s" % (rc, took, case["seconds"], left), "" if ok else open(tmp + "/out", errors="replace").read()[-800:]


def one(case, say):
    lack = missing(case)
    if lack:
        say(case, None, "skipped: needs " + lack, "")
        return
    tmp = tempfile.mkdtemp(prefix="corpus.")
    try:
        ok, msg, text = (hang if case["class"] == "hang" else benign)(case, tmp)
    except Exception as e:
        ok, msg, text = False, "checker: %r" % e, ""
    say(case, ok, msg, text)
    shutil.rmtree(tmp, ignore_errors=True)


def build():
    os.makedirs(BIN, exist_ok=True)
    for f in sorted(os.listdir(HERE + "/programs")):
        b, ext = os.path.splitext(f)
        src, dst = HERE + "/programs/" + f, BIN + "/" + b
        if os.path.exists(dst) and os.path.getmtime(dst) >= os.path.getmtime(src):
            continue
        if ext == ".c":
            cmd = ["gcc", "-O1", "-g", "-pthread", "-Wall", src, "-o", dst, "-lrt"]
        elif ext == ".rs":
            cmd = ["rustc", "-O", "-g", src, "-o", dst]
        elif ext == ".go":
            cmd = ["go", "build", "-o", dst, src]
        else:
            continue
        if not shutil.which(cmd[0]):
            print("no", cmd[0], "for", f)
        elif subprocess.call(["nice", "-n", "19"] + cmd):
            print("cannot build", f)


SLOTS = os.environ.get("CORPUS_SLOTS", "/tmp/corpus_slots.%d." % os.getuid())


def slot():
    """At most two programs at a time on this machine, eight where the file of CORPUS_GO is there."""
    while True:
        for k in range(8 if os.path.exists(os.environ.get("CORPUS_GO", "none")) else 2):
            f = open(SLOTS + str(k), "w")
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return f
            except OSError:
                f.close()
        time.sleep(0.3)


def main():
    global PY, BIN, EXPECT
    ap = argparse.ArgumentParser()
    ap.add_argument("-j", type=int, default=2)
    ap.add_argument("-k", default="")
    ap.add_argument("--class", dest="cls", default="")
    ap.add_argument("--bin", default=HERE + "/bin")
    ap.add_argument("--python", default=HERE + "/.venv/bin/python" if os.path.exists(HERE + "/.venv/bin/python") else sys.executable)
    ap.add_argument("--new", action="store_true", help="leave out what was found good before")
    a = ap.parse_args()
    PY, BIN = a.python, a.bin
    os.nice(10)
    build()
    cases = json.load(open(HERE + "/truth.json"))
    EXPECT = json.load(open(HERE + "/expect.json"))
    done = set()
    log = HERE + "/checked.jsonl"
    if a.new and os.path.exists(log):
        last = {}
        for ln in open(log):
            d = json.loads(ln)
            last[d["name"]] = d["ok"]
        done = {n for n, ok in last.items() if ok}
    todo = [c for c in cases if re.search(a.k, c["name"]) and a.cls in ("", c["class"]) and c["name"] not in done]
    lock, count = threading.Lock(), {True: 0, False: 0, None: 0}

    def say(case, ok, msg, text):
        with lock:
            count[ok] += 1
            print({True: "ok  ", False: "BAD ", None: "skip"}[ok], case["name"], "-", msg, flush=True)
            if text and (ok is False or os.environ.get("SHOW")):
                print("     " + text.replace("\n", "\n     "), flush=True)
            if ok is not None:
                with open(log, "a") as f:
                    f.write(json.dumps({"name": case["name"], "ok": ok, "msg": msg}) + "\n")

    def runner():
        while True:
            with lock:
                if not todo:
                    return
                c = todo.pop(0)
            with slot():
                one(c, say)
    ts = [threading.Thread(target=runner) for _ in range(a.j)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    print("good %d, bad %d, skipped %d" % (count[True], count[False], count[None]))
    sys.exit(1 if count[False] else 0)


if __name__ == "__main__":
    main()
