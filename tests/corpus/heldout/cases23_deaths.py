"""What is true of programs23/deaths; as a program it writes deaths23.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, NEEDS, SENDER

HERE = "{here}/programs23/deaths/"
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
    CASES.append({"name": "d23-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


BOTH = {"kind": ("error_exit", "crash")}

# Errors that a program tells
death("torn-checkpoint", "d23_torn_checkpoint.py", 1, "not a zip file|BadZipFile", "a checkpoint was cut off")
death("surrogate", "d23_surrogate.py", 1, r"surrogates not allowed|UnicodeEncodeError|\\udce9", "half a character cannot be written")
death("no-space", "d23_no_space.py", 1, "No space left", "the disk is full", shallow=("OSError",))
death("objective", "d23_objective.py", 1, "division by zero|ZeroDivisionError", "a trial fails inside of a search", shallow=("TrialFailed",))
death("frozen-config", "d23_frozen_config.py", 1, "cannot assign to field|FrozenInstance", "settings are frozen")
death("nested-data", "d23_nested_data.py", 1, "recursion", "a data set is nested too deep")
death("reward-key", "d23_reward_key.py", 1, r"KeyError|'reward'", "one of a group's tasks fails",
      shallow=("ExceptionGroup|unhandled errors in a TaskGroup",))
death("pipefail", "d23_pipefail.sh", 1, "JSONDecodeError|Expecting ',' delimiter", "the first program of a pipe fails",
      shallow=("status 1",))
death("perl-shard", "d23_perl_shard.sh", 2, r"shard-3\.tsv|No such file", "a shard is not there")
death("rate-text", "d23_rate_text.rs", 101, "ParseFloatError|invalid float", "a number has a comma", **BOTH, shallow=("panic",))
death("nil-map", "d23_nil_map.go", 2, "nil map", "a map was never made", **BOTH, shallow=("panic",))
death("no-vocab", "d23_no_vocab.java", 1, r"vocab-large\.json|NoSuchFile", "a file is not there, told inside of another error",
      shallow=("UncheckedIO|set up the tokenizer",))
death("store-refused", "d23_store_refused.js", 1, "ECONNREFUSED", "a server has gone, and nobody waits for the error")

# Crashes
crash("thread-throws", "d23_thread_throws.cpp", 6, "bad magic number", "a thread throws", shallow=(ABORT + "|runtime_error",))
crash("assert-rows", "d23_assert_rows.c", 6, "empty batch|rows > 0", "a batch is empty", shallow=(ABORT + "|[Aa]ssert",))
crash("double-free", "d23_double_free.c", 6, "double free|freed twice", "a buffer is given back twice", shallow=(ABORT,))
crash("deep-tree", "d23_deep_tree.cpp", 11, "[Ss]tack", "the stack is used up", last="", shallow=("SIGSEGV|[Ss]egmentation",))
crash("file-limit", "d23_file_limit.c", 25, "SIGXFSZ|[Ff]ile size|RLIMIT_FSIZE", "a file is larger than its limit", last="",
      kind=("crash", "killed_by"))

# Signals of others
death("term", "d23_term.py", -15, "SIGTERM|[Tt]erminat", "a scheduler ends the job", killer="signal", kind=KILLED, signal=15,
      sender="outsider", outside="main TERM", last="")
death("interrupt", "d23_interrupt.py", -2, "SIGINT|KeyboardInterrupt|[Ii]nterrupt", "somebody interrupts", killer=["signal", "none"], kind=KILLED,
      signal=2, outside="main INT", last="")
death("loader-killed", "d23_loader_killed.py", 1, "SIGKILL|killed by signal|[Kk]illed", "somebody kills a loading process",
      killer=["signal", "none"], kind=KILLED, outside="loader KILL")

# Ranks
death("grad-norm", "d23_grad_norm.py", 1, "gradient norm|not finite", "rank 1 has an infinite gradient", rank=1, nproc=3,
      kind=("error_exit", "peer_lost"), shallow=(LOST + "|FloatingPointError",))
death("port-taken", "d23_port_taken.py", 1, "in use", "a port is taken", rank=0, nproc=2,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))

# A good end
death("good", "d23_good.py", 0, "", "errors were overcome", kind=("clean_exit",), last="training complete: 30 steps",
      not_=("out of memory", "decoder"))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths23.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
