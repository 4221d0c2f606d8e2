"""What is true of programs11/deaths; as a program it writes deaths11.json. ../check_deaths.py holds the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import MAYBE, NEEDS, SENDER

HERE = "{here}/programs11/deaths/"
CASES = []
LOST = "EOF|reset|[Bb]roken pipe|closed"
ABORT = "SIGABRT|[Aa]bort"


def death(name, run, leaves, why, about, killer="none", kind=("error_exit",), signal=None, sender=None, rank=None, not_=(), shallow=(),
          needs=(), **more):
    """As in cases6_deaths.py."""
    words, suffix = cases6_deaths.command(run, HERE)
    truth = {"killer": killer, "kind": list(kind), "signal": signal, "sender": sender, "rank": rank, "why": [why], "not": list(not_)}
    if shallow:
        truth["shallow"] = list(shallow)
    check = {"exit": leaves, **{k: more.pop(k) for k in ("last", "early") if k in more}}
    if "outside" in more:
        more["outside"] = ["{python}", SENDER, *more["outside"].split()]
    CASES.append({"name": "d11-" + name, "class": "death", "run": words, "needs": NEEDS.get(suffix, []) + list(needs), "about": about,
                  "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    death(name, run, -signal, why, about, **{"killer": ["none", "kernel"], "kind": ("crash",), **more}, signal=signal)


# Errors that a program tells
death("map-writes", "d11_map_writes.go", 2, "concurrent map", "two goroutines write into one map", kind=("error_exit", "crash"))
death("all-asleep", "d11_all_asleep.go", 2, "all goroutines are asleep|deadlock", "one result less than is wanted, the runtime sees it", kind=("error_exit", "crash"))
death("thread-panic", "d11_thread_panic.rs", 101, "index out of bounds|32004", "a thread's index is out of a table, main unwraps its end", kind=("error_exit", "crash"), shallow=("Any|unwrap",))
death("undefined", "d11_undefined.js", 1, "undefined", "an answer without what is looked for, in a promise that nobody catches")
death("heap", "d11_heap.js", 1, "heap out of memory|memory limit|OUT_OF_MEMORY", "the heap of a worker is at its limit", shallow=("Unhandled 'error'",))
death("initializer", "d11_initializer.java", 1, "NumberFormat|64k", "a class could not be made, which is told as a warning", shallow=("NoClassDefFound|Could not initialize",))
death("pipefail", "d11_pipefail.sh", 1, "unexpected end of file", "a compressed file is cut off, a pipe of the shell fails")
death("timeout", "d11_timeout.sh", 124, "124|time.?out|timed out", "timeout ends a stage", killer=MAYBE, kind=("error_exit", "killed_by"), last="bucket")
death("task-group", "d11_task_group.py", 1, "Checksum|sha256", "one of a group of tasks fails", shallow=("ExceptionGroup|TaskGroup",), needs=["tomllib"])
death("c-exit", "d11_c_exit.py", 17, "license|seat", "a library leaves the process by itself", shallow=(r"\b17\b",))
death("libcudart", "d11_libcudart.py", 1, "libcudart", "a library is not there", not_=("flash kernels",))

# A good end
death("calm", "d11_calm.py", 0, "", "a child's crash and an error are got over", kind=("clean_exit",), last="training done", not_=("SIGABRT", "vocab.json"))

# Crashes, limits, signals
crash("sigpipe", "d11_sigpipe.c", 13, "SIGPIPE|[Bb]roken pipe", "who reads has left", killer=["none", "kernel", "signal"], kind=("crash", "killed_by"), last="")
crash("seccomp", "d11_seccomp.c", 31, "SIGSYS|[Bb]ad system call|seccomp", "a sandbox ends who makes a process", killer=["none", "kernel", "signal"], kind=("crash", "killed_by"), last="")
crash("fsize", "d11_fsize.c", 25, "SIGXFSZ|[Ff]ile size|RLIMIT_FSIZE", "a file is larger than the limit", killer=["none", "kernel", "signal"], kind=("crash", "killed_by"), last="")
crash("range", "d11_range.cpp", 6, "out_of_range|range_check", "at() throws and nobody catches", shallow=(ABORT,))
crash("double-free", "d11_double_free.c", 6, "double free", "memory is given back twice", shallow=(ABORT,))

# Ranks
death("rank-killed", "d11_rank_killed.py", -9, "SIGKILL|killed", "rank 2 is killed from outside, three others lose it", killer="signal", kind=("killed_by", "peer_lost"), signal=9, rank=2, nproc=4,
      sender="outsider", outside="rank2 KILL", shallow=(LOST,), last="")
death("rank-memory", "d11_rank_memory.py", 1, "MemoryError|RLIMIT_AS|address space", "rank 1 is at its limit of address space, two others lose it", rank=1, nproc=3, kind=("error_exit", "peer_lost"),
      shallow=(LOST,))
death("rank-assert", "d11_rank_assert.py", 1, "AssertionError|assert max", "rank 3 fails by an assertion without words, three others say that they lost a peer", rank=3, nproc=4,
      kind=("error_exit", "peer_lost"), shallow=(LOST + "|lost a peer",))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths11.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
