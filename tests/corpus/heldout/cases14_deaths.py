"""What is true of programs14/deaths; as a program it writes deaths14.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, MAYBE, NEEDS, SENDER

HERE = "{here}/programs14/deaths/"
CASES = []
LOST = "EOF|reset|[Bb]roken pipe|closed"
ABORT = "SIGABRT|[Aa]bort"
SEGV = "SIGSEGV|[Ss]egmentation|-11"


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
    CASES.append({"name": "d14-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    death(name, run, -signal, why, about, **{"killer": ["none", "kernel"], "kind": ("crash",), **more}, signal=signal)


# Errors that a program tells
death("resume", "d14_resume.py", 1, r"decoder\.weight",
      "a checkpoint lacks a key, told inside of an error of the trainer",
      shallow=("could not resume",))
death("handled-first", "d14_handled_first.py", 1, "Expected more than 1 value",
      "the last batch is of one row, an image was skipped before",
      not_=("cannot identify",))
death("pool-error", "d14_pool_error.py", 1, "truncated|val_00080", "a process of a pool fails, main gets its error")
death("disk-full", "d14_disk_full.py", 1, "No space left|ENOSPC", "no room for a checkpoint")
death("reward-timeout", "d14_reward_timeout.py", 1, "reward server|no answer in 5",
      "a server does not answer, a task beside it fails too",
      not_=("metrics upload",))
death("tar", "d14_tar.py", 1, "laion-part-00042|Cannot open",
      "a tool does not find its file, the trainer tells its status",
      shallow=("CalledProcessError|exit status 2",))
death("nan", "d14_nan.py", 1, "[Ll]oss is nan|nan", "a trainer leaves by its own choice, and says why")
death("html", "d14_html.py", 1, "invalid load key|Unpickling|pytorch_model", "a checkpoint is a page of a server")
death("unwrap", "d14_unwrap.rs", 101, "<pad>|not in the vocabulary", "a word that is not in a table",
      kind=("error_exit", "crash"))
death("nil-map", "d14_nil_map.go", 2, "nil map", "a map that nobody has made", kind=("error_exit", "crash"))
death("config", "d14_config.js", 1, "JSON|Unexpected token|double-quoted", "a configuration that cannot be parsed")
death("future", "d14_future.java", 1, "Index 1 out of bounds|ArrayIndexOutOfBounds",
      "a task of a pool fails, main finds it in its future",
      shallow=("ExecutionException",))
death("pipeline", "d14_pipeline.sh", 3, "lr_sheduler|unknown key",
      "the first of a pipeline leaves by an error, with pipefail")
death("command", "d14_command.sh", 127, "accelerate-launch-v2|command not found", "a command that is not there",
      shallow=(r"\b127\b",))
death("ulimit", "d14_ulimit.sh", 1, "MemoryError|RLIMIT_AS|address space", "the address space is at its limit")
death("launcher", "d14_launcher.py", 1, r"size of tensor a|768|1024",
      "a rank of a launcher fails, which ends the others",
      shallow=("ended with 1|training failed",))

# A good end
death("recovered", "d14_recovered.py", 0, "", "a loader and an upload were tried again", kind=("clean_exit",),
      last="training finished",
      not_=("SIGKILL", "upload of epoch"))

# Crashes and limits
crash("assert", "d14_assert.c", 6, "padded to 8 rows|rows % 8", "an assertion fails", shallow=(ABORT,))
crash("bad-alloc", "d14_bad_alloc.cpp", 6, "bad_alloc|RLIMIT_DATA", "new throws at the limit of the data segment",
      shallow=(ABORT,))
crash("cpu-limit", "d14_cpu_limit.c", 24, "SIGXCPU|CPU time|RLIMIT_CPU", "more of the processor than the limit",
      killer=["kernel", "signal", "none"],
      kind=("killed_by", "crash"), sender="kernel", last="")
death("pool-crash", "d14_pool_crash.py", 1, SEGV, "a process of a pool crashes, main tells of a broken pool",
      kind=("error_exit", "crash"),
      killer=["none", "kernel"], shallow=("terminated abruptly|BrokenProcessPool",), last="terminated abruptly")

# Signals, by whom
death("babysitter", "d14_babysitter.py", -9, "SIGKILL|killed", "a process that the trainer has started kills it",
      killer="signal",
      kind=("killed_by",), signal=9, sender="babysitter", last="")
death("interrupted", "d14_interrupted.py", -2, "SIGINT|KeyboardInterrupt", "somebody interrupts it", killer=MAYBE,
      kind=KILLED, signal=2,
      sender="outsider", outside="main INT", last="KeyboardInterrupt")
death("graceful-term", "d14_graceful_term.py", 143, "SIGTERM|signal 15",
      "somebody ends it, it saves and leaves with 143", killer=MAYBE,
      kind=KILLED, sender="outsider", outside="main TERM", last="saving last.pt")
death("usr1", "d14_usr1.sh", 138, "SIGUSR1|User defined signal 1", "a script's trainer does not handle SIGUSR1",
      killer=MAYBE, kind=KILLED,
      sender="outsider", shallow=(r"\b138\b",), outside="trainer USR1", last="ended with 138")

# Ranks
death("left-early", "d14_left_early.py", 0, r"rank 1\b|no more shards",
      "rank 1 leaves with 0 before the others, who lose it",
      kind=("peer_lost", "error_exit"), rank=1, nproc=3, early=1, shallow=(LOST + "|Connection",))
death("rank-key", "d14_rank_key.py", 1, "KeyError|zebra", "rank 1 misses a label, rank 0 loses it", rank=1, nproc=2,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("rank-crash", "d14_rank_crash.py", -11, SEGV, "rank 2 crashes, two others lose it", killer=["none", "kernel"],
      rank=2, nproc=3,
      kind=("crash", "peer_lost"), signal=11, shallow=(LOST,), last="")
death("watchdog-thread", "d14_watchdog_thread.py", -6, "Watchdog|timeout|timed? ?out|rank 1",
      "rank 0 aborts as a sum with rank 1 does not end",
      killer="none", rank=0, nproc=2, kind=("crash", "error_exit"), signal=6, shallow=(ABORT,), last="Watchdog caught")

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths14.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
