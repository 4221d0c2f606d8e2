"""What is true of programs8/deaths; as a program it writes deaths8.json. ../check_deaths.py holds the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, MAYBE, NEEDS, SENDER

HERE = "{here}/programs8/deaths/"
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
    CASES.append({"name": "d8-" + name, "class": "death", "run": words, "needs": NEEDS.get(suffix, []) + list(needs), "about": about,
                  "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    death(name, run, -signal, why, about, killer=["none", "kernel"], kind=("crash",), signal=signal, **more)


# Errors that a program tells
death("vocabulary", "d8_vocabulary.py", 1, r"vocab\.bpe|FileNotFound|No such file", "a file is not there, told as an error of the tokenizer", shallow=("could not build",))
death("precision", "d8_precision.py", 2, "fp8|invalid choice", "a choice that is none")
death("smaller-batch", "d8_smaller_batch.py", 1, "warmup|KeyError", "two batches were too large, which was handled; then a key is missing", not_=("out of memory|oom",))
death("initializer", "d8_initializer.py", 1, "31999|pieces", "the initializer of a pool fails", shallow=("BrokenProcessPool|terminated abruptly|not usable",))
death("logged-exit", "d8_logged_exit.py", 4, "projection|4096|cannot load checkpoint", "a logged error, status 4")
death("warning-error", "d8_warning_error.py", 1, "padding_side|FutureWarning", "a warning is an error", not_=("lr_scheduler",))
death("bad-byte", "d8_bad_byte.py", 1, "0x92|UnicodeDecode|codec can't decode", "a byte that is no UTF-8")
death("unique", "d8_unique.py", 1, "UNIQUE|IntegrityError", "a number twice; errors before it were handled", not_=("no such table",))
death("refused", "d8_refused.py", 1, "tracking server|Connection refused", "a server is not there after three tries")
death("never-retrieved", "d8_never_retrieved.py", 1, "division by zero|ZeroDivision", "an error of a task was never asked for, then main divides by zero",
      not_=("metrics socket|ConnectionReset",))
death("upload-tool", "d8_upload_tool.py", 1, "AccessDenied|read-only", "a tool tells why it fails", shallow=("exit status 255|CalledProcess",))
death("pickle-lock", "d8_pickle_lock.py", 1, "cannot pickle", "a lock cannot be sent to a process")
death("joblib", "d8_joblib.py", 1, "min_samples_leaf", "an error in a process of joblib", needs=["joblib"])
death("silent-worker", "d8_silent_worker.py", 1, r"exit code 17|status 17|code 17|exited with 17|ended with 17", "a loader leaves with 17 and no word", last="exit code 17",
      shallow=("no batch left",))
death("refused-go", "d8_dial.go", 1, "connection refused|feature server", "a server is not there after three tries, in Go")
death("index-go", "d8_index.go", 2, "index out of range", "an index outside of its table", kind=("error_exit", "crash"))
death("overflow-rs", "d8_overflow.rs", 101, "multiply with overflow|overflow", "a thread's number is too large", shallow=("unwrap|Any",))
death("undefined-js", "d8_undefined.js", 1, "Cannot read properties|TypeError", "an answer without what was expected")
death("unset", "d8_unset.sh", [1, 127], "unbound|CHECKPOINT_BUCKET", "a variable of a script is not set")
death("gzip-full", "d8_gzip_full.py", 1, "No space left", "gzip writes to a full device", shallow=("export failed|status",), needs=["gzip"])
death("not-finite", "d8_not_finite.py", 1, "not finite|nan", "a loss that is no number")
death("own-alarm", "d8_own_alarm.py", 1, "evaluation took|TimeoutError|2 s", "an alarm of its own is an exception")
death("own-launcher", "d8_own_launcher.py", 1, "expert 64|IndexError", "worker 1 of a launcher of its own fails", shallow=("worker 1 failed|stopping the others",))
death("exit-sum", "d8_exit_sum.py", 1, "part-003|11 columns|row 88", "an error is logged, a good word comes after it")
death("mpi-abort", "mpiexec -n 2 d8_mpi_abort.py", 6, "halo|tile 17", "rank 1 tells why and aborts the world", kind=("error_exit", "crash"), needs=["mpi4py", "mpiexec"],
      shallow=("Abort",))

# Good ends
death("thread-error", "d8_thread_error.py", 0, "", "a thread has failed, the end is good", kind=("clean_exit",), last="complete", not_=("out of memory",))
death("noise", "d8_noise.py", 0, "", "errors were handled, a child killed itself, the end is good", kind=("clean_exit",), last="done", not_=("out of memory|SIGKILL",))

# Crashes
crash("stack", "d8_stack.c", 11, "SIGSEGV|[Ss]egmentation|stack", "a recursion without an end in C", last="")
crash("cut-map", "d8_cut_map.py", 7, "SIGBUS|[Bb]us error", "its own mapped file was cut off", last="")
death("native", "d8_native.py", -11, "SIGSEGV|[Ss]egmentation|fused_attention", "native code writes to no memory", killer=["none", "kernel"], kind=("crash",), signal=11)
death("alloc", "d8_alloc.cpp", -6, "bad_alloc|bad_array_new_length", "a size of a negative number", kind=("crash",), signal=6, shallow=("SIGABRT|terminate",))
death("joinable", "d8_joinable.cpp", -6, "without an active exception|terminate|thread", "a running thread is destroyed", kind=("crash",), signal=6, shallow=("SIGABRT",))
death("bad-pointer", "d8_bad_pointer.c", -6, "invalid pointer|free\\(\\)", "a moved pointer is freed", kind=("crash",), signal=6, shallow=("SIGABRT",))
death("pool-crash", "d8_pool_crash.py", 1, "SIGSEGV|[Ss]egmentation|-11", "a process of a pool crashes, the pool is broken", killer=["none", "kernel", "signal"],
      kind=("error_exit", "crash"), last="", shallow=("terminated abruptly|BrokenProcessPool",))

# Signals, by whom
death("time-box", "d8_time_box.sh", 124, "SIGTERM|time limit|timeout|timed out|124", "timeout ends it after 4 s", killer=MAYBE, kind=KILLED, last="")
death("processor-time", "d8_processor_time.py", -24, "SIGXCPU|CPU time|RLIMIT_CPU|processor time", "over its limit of processor time", killer=["kernel", "signal", "none"],
      kind=("killed_by", "crash"), signal=24, last="")
death("interrupt", "d8_until_signal.py", -2, "SIGINT|[Ii]nterrupt|Ctrl-C", "somebody sends SIGINT", killer=MAYBE, kind=KILLED, signal=2, sender="outsider", outside="main INT",
      last="KeyboardInterrupt")
for number, word in ((15, "TERM"), (6, "ABRT"), (12, "USR2")):
    death("sent-" + word.lower(), "d8_until_signal.py", -number, "SIG" + word, "somebody sends SIG" + word, killer="signal",
          kind=("killed_by", "crash") if word == "ABRT" else ("killed_by",), signal=number, sender="outsider", outside="main " + word, last="")
death("guard", "d8_rss_guard.py", 3, "budget|guard", "a guard kills its trainer for its time", killer=MAYBE, kind=KILLED, shallow=("SIGKILL",))

# Ranks
death("rank-first", "d8_rank_first.py", 0, r"rank 0\b|max_steps", "rank 0 leaves with 0, the others lose it", kind=("peer_lost", "error_exit"), rank=0, nproc=3, early=0,
      shallow=("EOF|reset|[Bb]roken pipe|closed",))
death("rank-fault", "d8_rank_fault.py", -11, "SIGSEGV|[Ss]egmentation", "rank 2 crashes, the others lose it", killer=["none", "kernel"], kind=("crash",), signal=11, rank=2, nproc=3,
      last="")
death("rank-term", "d8_rank_term.py", None, "SIGTERM", "somebody ends rank 1, rank 0 loses it", killer="signal", kind=("killed_by", "error_exit", "peer_lost"), sender="outsider",
      rank=1, nproc=2, outside="rank1 TERM", shallow=("EOF|reset|[Bb]roken pipe",), last="")
death("rank-assert", "d8_rank_assert.py", 1, "gradient norm|7341", "rank 1 fails, the others tell that they lost it", rank=1, nproc=3, kind=("error_exit", "peer_lost"),
      shallow=("lost a peer",))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths8.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
