"""What is true of programs7/deaths; as a program it writes deaths7.json. ../check_deaths.py holds the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, MAYBE, NEEDS, SENDER

HERE = "{here}/programs7/deaths/"
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
    CASES.append({"name": "d7-" + name, "class": "death", "run": words, "needs": NEEDS.get(suffix, []) + list(needs), "about": about,
                  "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    death(name, run, -signal, why, about, killer=["none", "kernel"], kind=("crash",), signal=signal, **more)


# Errors that a program tells
death("bad-json", "d7_bad_json.py", 1, "JSONDecode|Illegal trailing comma|Expecting property name", "a file is no JSON, told as an error of the tokenizer",
      shallow=("tokenizer of run 7",))
death("reset-then-index", "d7_reset_then_index.py", 1, "list index out of range|IndexError", "a reset connection was retried, then an index is wrong", not_=("reset by peer",))
death("future", "d7_future.py", 1, "division by zero|ZeroDivision", "a thread of a pool divides by zero")
death("group", "d7_group.py", 1, "attention_mask|KeyError", "one task of a group fails", shallow=("unhandled errors in a TaskGroup|ExceptionGroup",), needs=["tomllib"])
death("exit-message", "d7_exit_message.py", 1, "made by 8 ranks|step_3000", "it leaves with a word of its own")
death("options", "d7_options.py", 2, "unrecognized arguments|--bf16", "an unknown option")
death("semaphores", "d7_semaphores.py", 1, "cannot be split|50304", "a warning of the resource tracker comes after the error", not_=("leaked semaphore",))
death("exit-in-thread", "d7_exit_in_thread.py", 1, r"reader thread|no row for 1\.5", "a thread left by sys.exit, main misses its rows")
death("critical", "d7_critical.py", 9, "optimizer state of layer 11|cannot resume", "told by the logger, status 9")
death("json-lines", "d7_json_lines.py", 1, "50257|50304", "an error in a line of JSON, a good word after it", not_=("run ended, 6 rows.*(cause|reason)",))
death("memory-handled", "d7_memory_handled.py", 1, "labels|KeyError", "too large a batch was handled, then a key is missing", not_=("MemoryError|out of memory|RLIMIT_AS",))
death("memory-unhandled", "d7_memory_unhandled.py", 1, "MemoryError|RLIMIT_AS|address space", "over its own limit of address space",
      kind=("error_exit", "memory_limit", "oom"))
death("full", "d7_full.py", 1, "No space left", "a full device")
death("too-large", "d7_too_large.py", 1, "File too large|RLIMIT_FSIZE", "a file over its limit")
death("recursion", "d7_recursion.py", 1, "[Rr]ecursion", "a list that holds itself")
death("step-timeout", "d7_step_timeout.py", 1, "longer than its 2 s|Timeout", "an evaluation is over its time")
death("tool-timeout", "d7_tool_timeout.py", 1, "timed out|TimeoutExpired", "a tool is over its time")
death("fault-retried", "d7_fault_retried.py", 1, r"invalid literal|0\.85", "a crashed worker was started again, then a number is wrong", not_=("SIGSEGV|-11",))
death("in-finally", "d7_in_finally.py", 1, "loss scale 0|41 overflows", "the cleaning up of an error fails itself", shallow=("'optimizer'|KeyError",))
death("no-module", "d7_no_module.py", 1, "flash_kernels_v3", "a module is not there")
death("port-taken", "d7_port_taken.py", 1, "already in use", "its port is taken")
death("errexit", "d7_errexit.sh", 1, "cannot stat|No such file", "a command of a script fails", not_=("all copied",))
death("no-command", "d7_no_command.sh", 127, "not found|torchrunx", "a command is not there")
death("dump-later", "d7_dump_later.py", 1, r"Timeout|wait_for_gradients|0:00:02", "a limit of faulthandler")
death("nan", "d7_nan.py", 1, "nan", "a loss that is not a number")
death("pool-oserror", "d7_pool_oserror.py", 1, r"Input/output error|part-00030", "an error of reading in a pool's worker")
death("unwrap", "d7_unwrap.rs", 101, "No such file|NotFound|called `Result::unwrap", "a file is not there")
death("rejection", "d7_rejection.js", 1, "llama-8b|not loaded", "a promise that nobody catches")
death("nil-map", "d7_nil_map.go", 2, "nil map", "a map was never made", kind=("error_exit", "crash"))
death("asleep", "d7_asleep.go", 2, "all goroutines are asleep|deadlock", "a channel is never closed", kind=("error_exit", "crash"))
death("heap-java", "env JAVA_TOOL_OPTIONS=-Xmx16m d7_Heap.java", [1, 3], "OutOfMemoryError|Java heap space", "over the heap of Java", kind=("error_exit", "oom"))

# A good end
death("noisy-well", "d7_noisy_well.py", 0, "", "errors were handled, a helper killed, the end is good", kind=("clean_exit",), last="", not_=("out of memory|SIGKILL",))

# Crashes
crash("truncated", "d7_truncated.c", 7, "SIGBUS|Bus error", "its own mapped file was cut off", last="")
crash("divide", "d7_divide.c", 8, "SIGFPE|divi|[Ff]loating point", "an integer is divided by zero", last="")
crash("trap", "d7_trap.cpp", 4, "SIGILL|[Ii]llegal instruction", "a trap of the compiler", last="")
death("assert", "d7_assert.c", -6, "heads % 4|Assertion", "an assertion fails", kind=("crash",), signal=6, shallow=("SIGABRT",))
death("range", "d7_range.cpp", -6, "out_of_range|_M_range_check|64", "an exception of C++ is not caught", kind=("crash",), signal=6, shallow=("SIGABRT|terminate",))
death("virtual", "d7_virtual.cpp", -6, "pure virtual", "a method that is not there yet", kind=("crash",), signal=6, shallow=("SIGABRT|terminate",))
death("twice", "d7_twice.c", -6, "double free", "a buffer is freed twice", kind=("crash",), signal=6, shallow=("SIGABRT",))
death("smash", "d7_smash.c", -6, "stack smashing", "a name is too long for its array", kind=("crash",), signal=6, shallow=("SIGABRT",))
death("deep", "d7_deep.rs", -6, "overflowed its stack|stack overflow", "a recursion without an end in Rust", kind=("crash",), signal=6, shallow=("SIGABRT",))
death("heap-js", "env NODE_OPTIONS=--max-old-space-size=48 d7_heap.js", [-6, 134], "heap out of memory|heap limit", "over the heap of Node", kind=("crash", "oom"), signal=6,
      shallow=("SIGABRT",))
death("fatal", "d7_fatal.py", -6, "reference count is below zero|tensor cache", "a fatal error of the interpreter", kind=("crash",), signal=6, shallow=("SIGABRT|Fatal Python",))
death("watchdog", "d7_watchdog.py", -6, "watchdog|no step for 3 s", "a thread of its own aborts it as no step came", kind=("crash",), signal=6, shallow=("SIGABRT",))
death("child-fault", "d7_child_fault.py", 1, "SIGSEGV|[Ss]egmentation|-11", "a loader crashes, main tells its status", killer=["none", "kernel", "signal"],
      kind=("error_exit", "crash"))

# Signals, by whom
death("alarm", "d7_alarm.py", -14, "SIGALRM|[Aa]larm|timer", "a timer that it set itself", killer=["signal", "kernel", "none"], kind=("killed_by", "crash"), signal=14, last="")
death("kills-itself", "d7_kills_itself.py", -9, "SIGKILL", "it kills itself", killer="signal", kind=("killed_by",), signal=9, sender="self", last="",
      not_=("out of memory|oom",))
death("heartbeat", "d7_heartbeat.py", 75, "no heartbeat|heartbeat", "a supervisor kills its trainer as nothing came for 3 s", killer=MAYBE, kind=KILLED, shallow=("SIGKILL",))
death("loader-outside", "d7_loader_outside.py", 1, "SIGTERM|-15", "somebody ends a loader, main misses it", killer=MAYBE, kind=KILLED, sender="outsider",
      shallow=("exited unexpectedly",), outside="loader TERM", last="exited unexpectedly")
death("interrupted", "d7_interrupted.py", 130, "SIGINT|interrupt|Ctrl-C", "it saves at Ctrl-C and leaves with 130", killer=MAYBE, kind=KILLED, sender="outsider",
      outside="main INT", last="interrupted")
death("saves-at-term", "d7_saves_at_term.py", 0, "SIGTERM|signal 15", "it saves at SIGTERM and leaves with 0", killer=MAYBE, kind=("killed_by", "clean_exit"),
      sender="outsider", outside="main TERM", last="checkpoint is written")
for number, word in ((1, "HUP"), (3, "QUIT"), (10, "USR1"), (13, "PIPE")):
    death("goes-on-" + word.lower(), "d7_goes_on.py" if word != "PIPE" else "d7_pipe_default.py", -number, "SIG" + word, "somebody sends SIG" + word, killer="signal",
          kind=("killed_by", "crash") if word == "QUIT" else ("killed_by",), signal=number, sender="outsider", outside="main " + word, last="")
death("stop-kill", "d7_goes_on.py", -9, "SIGKILL", "somebody stops it, and then kills it", killer="signal", kind=("killed_by",), signal=9, sender="outsider",
      outside="main STOP KILL", last="", not_=("out of memory|oom",))
death("head", "d7_head.sh", 141, "SIGPIPE|[Bb]roken pipe", "the reader of a pipe has left, the script has pipefail", killer=["none", "kernel", "signal"],
      kind=("error_exit", "killed_by"), last="")

# Ranks
death("zero-shards", "d7_zero_shards.py", 0, r"rank 1\b|no shards", "rank 1 leaves with 0, the others lose it", kind=("peer_lost", "error_exit"), rank=1, nproc=3, early=1,
      shallow=("closed by peer|reset",))
death("rank-target", "d7_rank_target.py", None, "SIGKILL", "somebody kills rank 1, rank 0 loses it", killer="signal", kind=("killed_by", "error_exit", "peer_lost"),
      sender="outsider", rank=1, nproc=2, outside="rank1 KILL", shallow=("closed by peer|reset|[Bb]roken pipe",), last="")
death("rank-error", "d7_rank_error.py", 1, "1023 in document|expected 1024", "rank 2 fails, the others give up for it", rank=2, nproc=3, kind=("error_exit", "peer_lost"),
      shallow=("gives up",))
death("mpi-raise", "mpiexec -n 2 d7_mpi_raise.py", 5, "born_in|LookupError", "rank 1 tells its error and aborts the world", kind=("error_exit", "crash"),
      needs=["mpi4py", "mpiexec"], shallow=("MPI_Abort|Abort",))
death("one-of-four", "d7_one_of_four.sh", 1, "fingerprint", "the third of a launcher's four fails", shallow=("worst status",))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths7.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
