"""What is true of programs9/deaths; as a program it writes deaths9.json. ../check_deaths.py holds the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, MAYBE, NEEDS, SENDER

HERE = "{here}/programs9/deaths/"
CASES = []


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
    CASES.append({"name": "d9-" + name, "class": "death", "run": words, "needs": NEEDS.get(suffix, []) + list(needs), "about": about,
                  "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    death(name, run, -signal, why, about, killer=["none", "kernel"], kind=("crash",), signal=signal, **more)


# Errors that a program tells
death("tied", "d9_tied.py", 1, "head.weight|32064|size mismatch", "a layer of another size than the checkpoint's", shallow=("loading state_dict",))
death("task-group", "d9_task_group.py", 1, "mixture_weights|KeyError", "one task of a group lacks a key", shallow=("unhandled errors|TaskGroup|ExceptionGroup",), needs=["tomllib"])
death("override", "d9_override.py", 1, "lrr", "a setting that is none; the last line is advice", shallow=("HYDRA_FULL_ERROR",))
death("cut-line", "d9_cut_line.py", 1, "corpus-00017|Unterminated|middle of a string", "the last line of a file is cut; one before was skipped", not_=("skipping",))
death("no-guard", "d9_no_guard.py", 1, "bootstrapping|freeze_support|__main__|spawn", "a spawned process starts the program anew, as nothing guards its main part",
      shallow=("exited unexpectedly|status 1",))
death("array-memory", "d9_array_memory.py", 1, "Unable to allocate|11.9 GiB|MemoryError", "an array that is larger than the limit of its memory", needs=["numpy"])
death("rejected", "d9_rejected.js", 1, "part 2|lists no files", "a promise that nobody catches")
death("heap-limit", "d9_heap_limit.js", 1, "heap out of memory|memory limit|OUT_OF_MEMORY", "a worker's heap of JavaScript is full")
death("initializer", "d9_initializer.java", 1, "no model size|large", "a static table cannot be made", shallow=("ExceptionInInitializer",))
death("curl", "d9_curl.sh", 7, r"curl|Failed to connect|connect to|refused", "a script ends as its download fails", needs=["curl"])
death("cut-archive", "d9_cut_archive.sh", 1, "unexpected end of file", "an archive is cut off", needs=["gzip"])
death("no-step", "d9_no_step.py", 42, "no step|watchdog", "a watchdog thread ends its own process")
death("dump-later", "d9_dump_later.py", 1, "Timeout|0:00:03|fetch_next_shard", "faulthandler ends the process after 3 s", kind=("error_exit", "crash"))
death("asleep", "d9_asleep.go", 2, "all goroutines are asleep|deadlock", "Go sees that nothing can go on", kind=("error_exit", "crash"))
death("map-writes", "d9_map_writes.go", 2, "concurrent map", "two goroutines write to a map", kind=("error_exit", "crash"))
death("borrowed", "d9_borrowed.rs", 101, "already borrowed|BorrowMut", "a list is changed while it is gone through", kind=("error_exit", "crash"))
death("helper", "d9_helper.py", 1, "wandb_of_the_team|No module named|ModuleNotFound", "a helper cannot be imported, its supervisor stops the trainer",
      killer=MAYBE, kind=("error_exit", "killed_by"), shallow=("helper 'log'|SIGTERM|stopping all",))
death("trap", "d9_trap.sh", -15, r"config\.yaml|No such file", "a file is not there; the trap at the exit ends the script by SIGTERM", killer=MAYBE, kind=KILLED, signal=15,
      shallow=("SIGTERM",))

# Good ends
death("triage", "d9_triage.py", 0, "", "errors of other jobs are read", kind=("clean_exit",), last="report written", not_=("out of memory|illegal memory",))
death("retried", "d9_retried.py", 0, "", "a worker was killed and its work done again", kind=("clean_exit",), last="all 4 shards", not_=("SIGKILL",))

# Crashes and limits
crash("assertion", "d9_assertion.cpp", 6, "Assertion|__n < |operator", "one past the end, seen by the library", shallow=("SIGABRT|abort",))
crash("division", "d9_division.c", 8, "SIGFPE|[Ff]loating point|division", "a division by zero in C", last="")
crash("instruction", "d9_instruction.c", 4, "SIGILL|[Ii]llegal instruction", "an instruction that the processor has not", last="")
crash("free-twice", "d9_free_twice.c", 6, "double free", "a buffer is freed twice", shallow=("SIGABRT|abort",))
death("file-size", "d9_file_size.sh", -25, "SIGXFSZ|[Ff]ile size|RLIMIT_FSIZE|file too large", "a file grows over the limit of files", killer=["kernel", "none", "signal"],
      kind=("crash", "killed_by"), signal=25, last="")
death("sigpipe", "d9_sigpipe.py", -13, "SIGPIPE|[Bb]roken pipe", "it writes to a tool that has ended", killer=["kernel", "none", "signal"], kind=("crash", "killed_by", "error_exit"),
      signal=13, last="")

# Signals
death("preempted", "d9_preempted.py", 143, "SIGTERM", "SIGTERM comes, it saves and leaves with 143", killer=MAYBE, kind=KILLED, sender="outsider", outside="main TERM", last="saving checkpoint")
for number, word in ((1, "HUP"), (9, "KILL"), (3, "QUIT")):
    death("sent-" + word.lower(), "d9_wait_signal.py", -number, "SIG" + word, "somebody sends SIG" + word, killer="signal",
          kind=("killed_by", "crash") if word == "QUIT" else ("killed_by",), signal=number, sender="outsider", outside="main " + word, last="")

# Ranks
death("rank-nan", "d9_rank_nan.py", 1, "micro batch 3|layer 11|is nan", "rank 2's loss is no number, the others lose it", rank=2, nproc=3, kind=("error_exit", "peer_lost"),
      shallow=("EOF|reset|[Bb]roken pipe|closed",))
death("rank-timeout", "d9_rank_timeout.py", 5, "shard-0041|Input/output", "rank 1 cannot read and leaves, the others time out a second later", rank=1, nproc=3,
      kind=("error_exit", "peer_lost"), shallow=("timeout|timing out",))
death("rank-killed", "d9_rank_killed.py", None, "SIGKILL", "somebody kills rank 3, its neighbours lose it", killer="signal", kind=("killed_by", "error_exit", "peer_lost"),
      signal=9, sender="outsider", rank=3, nproc=4, outside="rank3 KILL", shallow=("EOF|reset|[Bb]roken pipe|closed",), last="")
death("rank-six", "d9_rank_six.py", 1, "vocabulary|50257", "rank 4 leaves with a word, five others lose it", rank=4, nproc=6, kind=("error_exit", "peer_lost"),
      shallow=("EOF|reset|[Bb]roken pipe|closed",))
death("rank-all", "d9_rank_all.py", 1, "num_training_steps|scheduler", "both ranks fail by the same setting", nproc=2, kind=("error_exit", "peer_lost"))
death("rank-abort", "d9_rank_abort.cpp", -6, "workspace|268435456|gemm", "rank 1 throws what nobody catches", killer=["none", "kernel"], kind=("crash", "error_exit"), signal=6, rank=1,
      nproc=2, shallow=("SIGABRT|abort|terminate",))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths9.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
