"""What is true of programs18/deaths; as a program it writes deaths18.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, NEEDS, SENDER

HERE = "{here}/programs18/deaths/"
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
    CASES.append({"name": "d18-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


BOTH = {"kind": ("error_exit", "crash")}

# Errors that a program tells
death("state-keys", "d18_state_keys.py", 1, r"size mismatch|head\.weight",
      "a checkpoint has fewer classes than the model")
death("zone", "d18_zone.py", 1, "offset-naive|offset-aware", "a clock without a zone is compared with one that has it",
      shallow=("TypeError",))
death("usage", "d18_usage.py", 2, "invalid float value|3e-4,", "a comma has got into an option", shallow=("usage",))
death("truncated", "d18_truncated.py", 1, "end-of-stream|EOFError|ended before", "a shard was cut off",
      shallow=("shard cannot be used",))
death("stop-iter", "d18_stop_iter.py", 1, "StopIteration", "a generator calls next() at the end of what it reads",
      shallow=("RuntimeError",))
death("locked", "d18_locked.py", 1, "database is locked", "a database has an open transaction")
death("not-json", "d18_not_json.py", 1, "JSON serializable", "a summary has a date in it", shallow=("TypeError",))
death("guard", "d18_guard.py", 1, "bootstrapping|freeze_support|__main__", "a program spawns where it is imported",
      shallow=("loader ended with",))
death("lock-pickle", "d18_lock_pickle.py", 1, "cannot pickle|thread.lock", "a dataset with a lock is to be handed over",
      shallow=("TypeError",))
death("unix-path", "d18_unix_path.py", 1, "path too long", "the path of a socket is too long", shallow=("OSError",))
death("file-limit", "d18_file_limit.py", 1, "[Ff]ile too large|EFBIG", "a limit for the size of files",
      shallow=("OSError",))
death("cd", "d18_cd.sh", 1, r"epoch-03|No such file", "a script goes to a folder that is not there")
death("float", "d18_float.rs", 101, "invalid float|ParseFloat", "a table has a word for a number", **BOTH)
death("nil-map", "d18_nil_map.go", 2, "nil map", "a map was not made", **BOTH)
death("future", "d18_future.java", 1, "NumberFormat|For input string|seven", "a task finds a label that is no number",
      shallow=("ExecutionException",))
death("undefined", "d18_undefined.js", 1, "undefined", "an answer has no metrics", shallow=("TypeError",))

# Crashes and signals
crash("double-free", "d18_double_free.c", 6, r"double free|free\(\)", "a batch is freed twice", shallow=(ABORT,))
crash("fpe", "d18_fpe.c", 8, "SIGFPE|[Ff]loating|[Dd]ivi", "a division by zero in whole numbers", last="")
crash("joinable", "d18_joinable.cpp", 6, "terminate called|active exception|thread", "a thread was not joined",
      shallow=(ABORT,))
death("hup", "d18_hup.py", -1, "SIGHUP", "somebody has closed its terminal", killer="signal",
      kind=KILLED, signal=1, sender="outsider", outside="main HUP", last="")

# Ranks
death("utf8", "d18_utf8.py", 1, "utf-8|0xe9|UnicodeDecode", "a line of rank 1 has another encoding", rank=1, nproc=3,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("not-dir", "d18_not_dir.py", 1, "Not ?a ?directory", "a file is where rank 0 needs a folder", rank=0, nproc=3,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("few-shards", "d18_few_shards.py", 1, "no shard", "rank 2 has no shard in the second epoch", rank=2, nproc=3,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))

# A good end
death("good", "d18_good.py", 0, "", "a tool was called again, an upload was left out", kind=("clean_exit",),
      last="finished: 40 steps", not_=("No space", "refused"))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths18.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
