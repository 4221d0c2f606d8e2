"""What is true of programs15/deaths; as a program it writes deaths15.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, MAYBE, NEEDS, SENDER

HERE = "{here}/programs15/deaths/"
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
    CASES.append({"name": "d15-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


BOTH = {"kind": ("error_exit", "crash")}

# Errors that a program tells
death("nofile", "d15_nofile.py", 1, "[Tt]oo many open files|EMFILE|NOFILE", "shards are opened and not closed",
      shallow=("OSError",))
death("from", "d15_from.py", 1, "KeyError|warmup_steps", "a missing key is told as a failed training",
      shallow=("RuntimeError|training failed",))
death("handled-late", "d15_handled_late.py", 1, "broadcast together|ValueError",
      "a batch of another shape, long after errors that were got over", not_=("refused|URLError|could not log",))
death("gather", "d15_gather.py", 1, "JSONDecodeError|Expecting value", "an answer that is no JSON")
death("called", "d15_called.py", 1, "moov atom", "a tool leaves with 3, and has said why",
      shallow=("CalledProcessError|exit status 3",))
death("worker-memory", "d15_worker_memory.py", 1, "MemoryError|RLIMIT_AS|address space",
      "a worker of a Pool is at its limit of address space")
death("efbig", "d15_efbig.py", 1, "[Ff]ile too large|EFBIG|FSIZE", "a log is larger than the limit", shallow=("OSError",))
death("finally", "d15_finally.py", 1, "IndexError|out of range", "an index is out of a list, the cleanup fails as well",
      shallow=("AttributeError|writer",))
death("stop-flag", "d15_stop_flag.py", 1, "UnicodeDecodeError|utf-8|0xe9", "a thread has ended by an error, main leaves",
      shallow=("loader stopped",))
death("port", "d15_port.py", 1, "[Aa]ddress already in use|EADDRINUSE", "a port that is still in use",
      shallow=("OSError",))
death("data-limit", "d15_data_limit.c", 1, "cannot allocate|RLIMIT_DATA", "malloc gives nothing at the limit of data")
death("full", "d15_full.cpp", 1, "[Nn]o space left|ENOSPC", "a checkpoint is written to a full device")
death("borrow", "d15_borrow.rs", 101, "[Bb]orrowed", "a cell is borrowed twice", **BOTH)
death("nil-pointer", "d15_nil_pointer.go", 2, "nil pointer", "an optimizer is nil", **BOTH,
      shallow=("SIGSEGV|[Ss]egmentation",))
death("refused", "d15_refused.js", 1, "ECONNREFUSED", "a store has gone, nobody listens to the error",
      shallow=("Unhandled 'error'",))
death("chain", "d15_chain.java", 1, "EOFException", "a shard ends too early", shallow=("IllegalState|epoch 0 failed",))
death("unbound", "d15_unbound.sh", 1, "unbound variable|CKPT_ARCHIVE_DIR", "a script uses a variable that is not set")
death("missing-so", "d15_missing_so.sh", 127, "libflashscore", "a library is not there", needs=["gcc"],
      shallow=(r"\b127\b",))

# Crashes and signals
crash("assert", "d15_assert.cpp", 6, "max_len|[Aa]ssertion", "an assertion does not hold", shallow=(ABORT,))
crash("recursion", "d15_recursion.c", 11, "SIGSEGV|[Ss]egmentation|stack", "a function calls itself without end")
crash("bus", "d15_bus.c", 7, "SIGBUS|[Bb]us error", "a mapped file is cut off while it is read")
death("term", "d15_term.py", -15, "SIGTERM", "somebody sends SIGTERM", killer="signal", kind=KILLED, signal=15,
      sender="outsider", outside="main TERM", last="")
death("guard", "d15_guard.py", -9, "SIGKILL|itself", "a thread ends its own process", killer="signal", kind=KILLED,
      signal=9, sender="self", last="")
death("monitor", "d15_monitor.py", -10, "SIGUSR1", "a child sends a signal without a handler", killer="signal",
      kind=KILLED, signal=10, sender="monitor", last="")
death("broken-pool", "d15_broken_pool.py", 1, "SIGKILL|kill", "a watcher kills a worker of a pool", killer=MAYBE,
      kind=KILLED, sender="watcher", shallow=("BrokenProcessPool|terminated abruptly",), last="BrokenProcessPool")

# Ranks
death("rank-value", "d15_rank_value.py", 1, "ValueError|could not convert|n/a", "rank 2's label is no number", rank=2,
      nproc=3, kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("rank-exit0", "d15_rank_exit0.py", 1, "rank 1|left|exit|ended|finished", "rank 1 is done earlier and leaves with 0",
      kind=("peer_lost", "error_exit"), rank=1, nproc=3, early=1, shallow=(LOST + "|Connection",))

# A good end
death("scary", "d15_scary.py", 0, "", "a worker is killed by its own job, an error is got over", kind=("clean_exit",),
      last="training complete", not_=("SIGKILL", "out of memory"))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths15.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
