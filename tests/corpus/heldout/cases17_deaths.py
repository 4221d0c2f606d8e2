"""What is true of programs17/deaths; as a program it writes deaths17.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, NEEDS, SENDER

HERE = "{here}/programs17/deaths/"
CASES = []
LOST = "EOF|reset|[Bb]roken pipe|closed"
ABORT = "SIGABRT|[Aa]bort"


def death(name, run, leaves, why, about, killer="none", kind=("error_exit",), signal=None, sender=None, rank=None,
          not_=(), shallow=(), needs=(), **more):
    """As in cases6_deaths.py."""
    words, suffix = cases6_deaths.command(run, HERE)
    truth = {"killer": killer, "kind": list(kind), "signal": signal, "sender": sender, "rank": rank, "why": [why],
             "not": list(not_)}
    if shallow:
        truth["shallow"] = list(shallow)
    check = {"exit": leaves, **{k: more.pop(k) for k in ("last", "early") if k in more}}
    if "outside" in more:
        more["outside"] = ["{python}", SENDER, *more["outside"].split()]
    CASES.append({"name": "d17-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


BOTH = {"kind": ("error_exit", "crash")}

# Errors that a program tells
death("keyword", "d17_keyword.py", 1, "warmup_ratio|unexpected keyword", "a setting has a name that nobody knows",
      shallow=("TypeError",))
death("comma", "d17_comma.py", 1, "JSONDecodeError|Expecting property|double quotes|line 4",
      "a comma too many in settings",
      shallow=("SettingsError|cannot be used",))
death("recursion", "d17_recursion.py", 1, "recursion", "a walk through a model goes round")
death("changed", "d17_changed.py", 1, "changed size", "a thread adds to a dict that main goes over")
death("remote", "d17_remote.py", 1, "IndexError|index out of range", "a process of a pool finds a row too short")
death("hub", "d17_hub.py", 1, "refused|111", "a hub does not answer, a cache has not got it either",
      shallow=("FileNotFound|neither at the hub",))
death("long-name", "d17_long_name.py", 1, "name too long",
      "a file's name is made of all settings", shallow=("OSError",))
death("tool", "d17_tool.py", 1, "bad header|clip-0017", "a tool of a program tells what is wrong",
      shallow=("CalledProcessError|non-zero|status 69",))
death("unbound", "d17_unbound.py", 1, "UnboundLocal|'best'|local variable", "no evaluation took place")
death("closing", "d17_closing.py", 1, "checksum|record 12", "the end of a with block fails after a broken record",
      shallow=("AttributeError|no attribute 'flush'",))
death("task", "d17_task.py", 1, "KeyError|logits", "a task has failed unseen, main waits in vain",
      shallow=("TimeoutError|timed out",))
death("loader", "d17_loader.py", 1, "zlib|incorrect header", "a loader's thread has failed, main finds no batch",
      shallow=("Empty",))
death("crlf", "d17_crlf.py", 1, r"prepare\.sh|No such file", "a script's first line ends with CR LF",
      shallow=("FileNotFound",))
death("watchdog", "d17_watchdog.py", 3, "no step for|watchdog|batch 30", "a program's own watchdog ends it")
death("unset", "d17_unset.sh", 1, "unbound variable|LOCAL_SCRATCH_DIR", "a script's variable is not set")
death("pipefail", "d17_pipefail.sh", 141, "SIGPIPE|141|[Bb]roken pipe|pipefail",
      "head leaves a pipe, its script fails of it",
      kind=("error_exit", "killed_by"), killer=["none", "kernel", "signal"], last="")
death("kill-zero", "d17_kill_zero.sh", [1, -15, 143], "label 41|ValueError",
      "a script ends its group as a step has failed",
      kind=("error_exit", "killed_by"), killer=["none", "signal"], shallow=("SIGTERM|itself",), last="label 41")
death("borrow", "d17_borrow.rs", 101, "already borrowed|BorrowMut", "a cache is changed while it is read", **BOTH)
death("closed", "d17_closed.go", 2, "send on closed channel", "a result comes to a channel that is closed", **BOTH)
death("modified", "d17_modified.java", 1, "ConcurrentModification", "a list is changed while it is gone over")
death("fetch", "d17_fetch.js", 1, "ECONNREFUSED|refused", "a service is not there", shallow=("fetch failed",))

# Crashes and signals
crash("assert", "d17_assert.c", 6, "n_tokens|[Aa]ssert", "a batch has no tokens", shallow=(ABORT,))
crash("getenv", "d17_getenv.c", 11, "SIGSEGV|[Ss]egmentation", "a variable that is not set is read", last="")
crash("overflow", "d17_overflow.c", 6, r"corrupted|malloc\(\)|heap|free\(\)|invalid",
      "a batch is longer than its block",
      shallow=(ABORT,))
crash("stoi", "d17_stoi.cpp", 6, "stoi|invalid_argument", "a number is a word", shallow=(ABORT,))
death("usr1", "d17_usr1.py", -10, "SIGUSR1", "a warning comes to a program that has no handler", killer="signal",
      kind=KILLED, signal=10, sender="outsider", outside="main USR1", last="")

# Ranks
death("in-use", "d17_in_use.py", 1, "in use|EADDRINUSE", "two ranks want one port", rank=1, nproc=2,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("nan", "d17_nan.py", 1, "loss is nan|FloatingPoint", "rank 2's loss is not a number", rank=2, nproc=3,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("rank-crash", "d17_rank_crash.py", -11, "SIGSEGV|[Ss]egmentation",
      "native code of rank 1 crashes", rank=1, nproc=3,
      killer=["none", "kernel"], kind=("crash", "peer_lost"), signal=11, shallow=(LOST,), last="")

# A good end
death("good", "d17_good.py", 0, "", "a helper was ended, a download was done again", kind=("clean_exit",),
      last="finished: 30 steps", not_=("Connection ?[Rr]eset", "SIGKILL"))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths17.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
