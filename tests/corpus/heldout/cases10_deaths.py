"""What is true of programs10/deaths; as a program it writes deaths10.json. ../check_deaths.py holds the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import MAYBE, NEEDS, SENDER

HERE = "{here}/programs10/deaths/"
CASES = []
LOST = "EOF|reset|[Bb]roken pipe|closed"


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
    CASES.append({"name": "d10-" + name, "class": "death", "run": words, "needs": NEEDS.get(suffix, []) + list(needs), "about": about,
                  "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    death(name, run, -signal, why, about, killer=["none", "kernel"], kind=("crash",), signal=signal, **more)


# Errors that a program tells
death("handler-fails", "d10_handler_fails.py", 1, "ZeroDivision|division by zero", "an error's own handler has a slip", shallow=("eror|AttributeError",))
death("exit-text", "d10_exit_text.py", 1, "32128|resize-embeddings|tokenizer has", "it leaves by a word, after warnings of other things", not_=("flash attention", "torch_dtype"))
death("recursion", "d10_recursion.py", 1, "RecursionError|recursion", "a long chain is copied by recursion")
death("remote", "d10_remote.py", 1, "4096|shard-00011|footer", "a worker of a pool fails, the pool's owner says that one did", shallow=("one of the processes|see above",))
death("prefetch-thread", "d10_prefetch_thread.py", 3, "bad magic|0x4d5a", "a thread fails, main gives up when nothing comes", shallow=("no batch|giving up",))
death("nil", "d10_nil.go", 2, "nil pointer|invalid memory address", "a shard that is nil", kind=("error_exit", "crash"))
death("unwrap", "d10_unwrap.rs", 101, "ParseFloat|invalid float", "a value that is no number is unwrapped", kind=("error_exit", "crash"))
death("event-error", "d10_event_error.js", 1, "ECONNREFUSED", "an 'error' for which nobody listens", shallow=("Unhandled 'error'",))
death("unbound", "d10_unbound.sh", 1, "SHARD_ROOT", "a variable that is not set")
death("no-exec", "d10_no_exec.sh", 126, "Exec format|cannot execute", "a program that cannot be run here")
death("cause", "d10_cause.java", 1, "NoSuchFile|tokens-0007", "a file is not there, which another error hides", shallow=("pipeline stage|IllegalState",))

# A good end
death("recovered", "d10_recovered.py", 0, "", "errors are met and got over", kind=("clean_exit",), last="model saved", not_=("SIGABRT", "reset by peer"))

# Crashes, limits, signals
crash("joinable", "d10_joinable.cpp", 6, "terminate|joinable|~thread|without an active exception", "a thread object goes away while its thread runs", shallow=("SIGABRT|abort",))
crash("deep", "d10_deep.c", 11, "[Ss]tack|recurs|depth", "the stack is used up", last="", shallow=("SIGSEGV|[Ss]egmentation",))
crash("bus", "d10_bus.py", 7, "SIGBUS|[Bb]us error|truncat|tokens.bin", "a mapped file is made shorter by somebody", last="")
death("cpu-limit", "d10_cpu_limit.py", -24, "SIGXCPU|CPU time|RLIMIT_CPU|[Cc]pu limit", "the limit of processor time is passed", killer=["kernel", "none", "signal"],
      kind=("crash", "killed_by"), signal=24, last="")
death("usr1", "d10_wait_signal.py", -10, "SIGUSR1", "a scheduler's notice comes by a signal that nobody handles", killer="signal", kind=("killed_by",), signal=10,
      sender="outsider", outside="main USR1", last="")
death("guard", "d10_guard.py", 1, r"guard|SIGKILL|killed by signal: Killed", "a guard of memory kills a loader, the trainer leaves", killer=MAYBE, kind=("error_exit", "killed_by"))

# Ranks
death("rank-segv", "d10_rank_segv.py", -11, "SIGSEGV|[Ss]egmentation", "rank 2 crashes in C, three others lose it", killer=["none", "kernel"],
      kind=("crash", "peer_lost"), signal=11, rank=2, nproc=4, shallow=(LOST,), last="")
death("rank-json", "d10_rank_json.py", 1, "JSONDecode|Expecting value", "rank 1 meets a line that is no JSON, four others lose it", rank=1, nproc=5, kind=("error_exit", "peer_lost"),
      shallow=(LOST,), not_=("longer than 2048",))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths10.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
