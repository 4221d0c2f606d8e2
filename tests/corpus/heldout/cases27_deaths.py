"""What is true of programs27/deaths; as a program it writes deaths27.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import MAYBE, NEEDS, SENDER

HERE = "{here}/programs27/deaths/"
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
    CASES.append({"name": "d27-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


# Errors that a program tells
death("resume", "d27_resume.py", 1, "model_ema", "a checkpoint lacks a table, told as another error", shallow=("could not resume",))
death("diverged", "d27_diverged.py", 3, "giving up|4 times the best", "it leaves for its loss, an upload's error was handled before",
      not_=("sample_20", "[Cc]onnection reset"))
death("silent", "d27_silent.c", 7, r"\b7\b", "it leaves with 7, without a word", last="")
death("address-space", "d27_address_space.py", 1, "MemoryError", "its own limit of address space")
death("file-size", "d27_file_size.py", 1, "File too large", "a limit of a file's size")
death("index", "d27_index.go", 2, "out of range", "an index behind the end, in a goroutine", kind=("error_exit", "crash"))
death("join", "d27_join.rs", 101, "48895|three words", "a thread panics, and main for its join", shallow=("unwrap", "Any"))
death("refused", "d27_refused.js", 1, "ECONNREFUSED", "nobody listens to an error of a connection", needs=["node"])
death("pool", "d27_pool.py", 1, "clip-00412|moov atom", "a worker of a pool finds a broken clip")
death("pipeline", "d27_pipeline.sh", 1, "part-20.jsonl|No such file", "the first command of a pipeline fails")
death("launcher", "d27_launcher.py", 1, "grad norm is nan", "a worker fails, its launcher ends the other one",
      not_=("SIGTERM by",))

# Crashes
crash("assert", "d27_assert.c", 6, "multiple of heads|width % n", "an assertion fails", shallow=(ABORT,))
crash("double-free", "d27_double_free.c", 6, "double free|free\\(\\)", "a buffer is given back twice", shallow=(ABORT,))
death("cpu-limit", "d27_cpu_limit.py", -24, "SIGXCPU|CPU time|processor time|RLIMIT_CPU", "a limit of processor time", signal=24,
      killer=["kernel", "signal", "none"], kind=("killed_by", "crash"), last="")

# Signals and ranks
death("interrupted", "d27_interrupted.py", [-2, 130, 1], "SIGINT|KeyboardInterrupt|[Ii]nterrupt", "somebody interrupts it", killer=["signal", "none"],
      kind=("killed_by", "error_exit"), signal=2, sender="outsider", outside="main INT", last="")
death("killed", "d27_killed.py", -9, "SIGKILL", "somebody ends it", killer="signal", kind=("killed_by",), signal=9,
      sender="outsider", outside="main KILL", last="")
death("early", "d27_early.py", 0, r"rank 1\b|no more shards", "rank 1 leaves with 0, the others lose it",
      kind=("peer_lost", "error_exit"), rank=1, nproc=3, early=1, shallow=(LOST,))
death("native", "d27_native.py", -11, "SIGSEGV|[Ss]egmentation|string_at", "rank 1 crashes in native code", killer=["none", "kernel"],
      kind=("crash", "peer_lost"), signal=11, rank=1, nproc=3, shallow=(LOST,))
death("record", "d27_record.py", 1, "JSONDecodeError|Expecting", "rank 2 finds a broken record", rank=2, nproc=3,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))

# A good end
death("well", "d27_well.py", 0, "", "errors that were handled", kind=("clean_exit",), last="")

if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "deaths27.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
    print(len(CASES))
