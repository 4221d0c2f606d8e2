"""What is true of programs28/deaths; as a program it writes deaths28.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import NEEDS, SENDER

HERE = "{here}/programs28/deaths/"
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
    CASES.append({"name": "d28-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


# Errors that a program tells
death("last-batch", "d28_last_batch.py", 1, "reshape|size 48", "a last batch is smaller", needs=["numpy"], not_=("no cache",))
death("chained", "d28_chained.py", 1, "Unterminated string|record 812", "a record is cut off, told in two more errors",
      shallow=("DataLoader failed",))
death("pool-error", "d28_pool_error.py", 1, "palette of 0", "one file of a pool's map cannot be read")
death("rlimit", "d28_rlimit.py", 1, "MemoryError|memory", "a buffer is over a limit of the address space")
death("exit-code", "d28_exit_code.py", 7, "licence expired", "it says why it leaves")
death("thread-error", "d28_thread_error.py", 1, "shard-020", "a prefetching thread has failed, the main loop's queue is empty",
      shallow=("Empty",))
death("fsize", "d28_fsize.py", 1, "File too large|EFBIG", "a limit of file sizes strikes")
death("pipefail", "d28_pipefail.sh", 1, "lang", "a column is not there, in the middle of a pipe", shallow=("KeyError",))
death("panic", "d28_panic.rs", 101, "chunk 2|left: 300", "a thread panics, main unwraps its end", shallow=("Any|unwrap",))
death("node-enoent", "d28_node_enoent.js", 1, "shard-0025", "a file is not there", shallow=("ENOENT",))
death("import", "d28_import.py", 1, "rouge_metrics_for_eval", "a package is not there", shallow=("ModuleNotFound",))

# Crashes and signals
crash("abort", "d28_abort.c", 6, "canary", "a check fails", shallow=(ABORT,))
crash("null", "d28_null.c", 11, "SIGSEGV|[Ss]egmentation|address", "a table that is not there is read", last="")
death("killed", "d28_killed.py", -9, "SIGKILL", "somebody kills it", killer="signal", kind=("killed_by",), signal=9,
      sender="outsider", outside="main KILL", last="")

# Ranks
death("rank-key", "d28_rank_key.py", 1, "attention_mask", "rank 1 lacks a key", nproc=3, rank=1,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("left-early", "d28_left_early.py", None, r"rank 0\b|budget", "rank 0 leaves with 0 in the middle, rank 1 loses it", nproc=2, rank=0,
      kind=("peer_lost", "error_exit"), shallow=(LOST,))
death("launcher", "d28_launcher.py", 1, "vocab_size 32000", "rank 2's assert fails, a launcher ends the others", rank=2,
      kind=("error_exit", "peer_lost"), not_=("SIGTERM was",))

# A good end
death("recovered", "d28_recovered.py", 0, "", "a child was started again, an error handled", kind=("clean_exit",), last="")

if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "deaths28.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
    print(len(CASES))
