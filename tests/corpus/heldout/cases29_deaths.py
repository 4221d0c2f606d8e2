"""What is true of programs29/deaths; as a program it writes deaths29.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import NEEDS, SENDER

HERE = "{here}/programs29/deaths/"
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
    CASES.append({"name": "d29-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


# Errors that a program tells
death("scheduler", "d29_scheduler.py", 1, "warmup_steps", "a configuration lacks a key", shallow=("could not build",))
death("pool-sample", "d29_pool_sample.py", 1, "clip 00412|0 frames", "a worker of a pool meets a clip without frames")
death("resume", "d29_resume.py", 1, "Ran out of input|EOFError|step-012000", "the checkpoint is an empty file")
death("silent", "d29_silent.sh", 1, "exit|status|code|said nothing|no reason|left", "a test of a script fails without a word", last="")
death("handled", "d29_handled.py", 1, "out of range|IndexError", "an error was handled, later a batch is empty", not_=("Connection refused",))
death("reader", "d29_reader.py", 1, "shard-0031|No such file", "a reader's thread has failed, main waits too long", shallow=("Empty",))
death("undefined", "d29_undefined.js", 1, "tokens", "an answer has another form", shallow=("TypeError",))
death("subtract", "d29_subtract.rs", 101, "subtract with overflow", "a window is longer than a document", shallow=("panick",))
death("index", "d29_index.go", 2, r"index out of range \[10\]|out of range", "a label is as large as its table", kind=("error_exit", "crash"))

# Crashes
death("converter", "d29_converter.py", 1, "SIGSEGV|[Ss]egmentation|signal 11", "a converter crashes", killer=["none", "kernel"],
      kind=("error_exit", "crash"), shallow=("CalledProcessError",), last="CalledProcessError")
crash("file-size", "d29_file_size.c", 25, "SIGXFSZ|[Ff]ile size|size of a file|RLIMIT_FSIZE", "a file grows over its limit", last="",
      kind=("crash", "killed_by"), killer=["none", "kernel", "signal"])
crash("cpu-limit", "d29_cpu_limit.py", 24, "SIGXCPU|CPU time|RLIMIT_CPU|processor", "its seconds of a processor are used up", last="",
      kind=("crash", "killed_by"), killer=["none", "kernel", "signal"])
crash("capacity", "d29_capacity.c", 6, "n_tokens <= cache->capacity|n_tokens", "an assertion fails", shallow=(ABORT,))
crash("recursion", "d29_recursion.cpp", 11, "stack|[Rr]ecurs", "a tree refers to itself", shallow=("SIGSEGV|[Ss]egmentation",), last="")
crash("joinable", "d29_joinable.cpp", 6, "without an active exception|joinable", "a thread was not joined", shallow=(ABORT,))

# Signals and ranks
death("interrupted", "d29_interrupted.py", -2, "SIGINT|KeyboardInterrupt|interrupt", "somebody interrupts it", killer=["signal", "none"],
      kind=("killed_by", "error_exit"), signal=2, sender="outsider", outside="main INT", last="")
death("max-steps", "d29_max_steps.py", 0, r"rank 1\b|max_steps|max-steps", "rank 1 is through earlier, the others lose it",
      kind=("peer_lost", "error_exit"), rank=1, nproc=3, early=1, shallow=("Connection|reset|closed|EOF",))
death("launcher", "d29_launcher.py", 1, "device 2|device ordinal", "rank 2 finds no device, a launcher ends the others", rank=2,
      not_=("SIGTERM from outside",))

# A good end
death("well", "d29_well.py", 0, "", "a worker was replaced, a missing file was made", kind=("clean_exit",), last="")

if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "deaths29.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
    print(len(CASES))
