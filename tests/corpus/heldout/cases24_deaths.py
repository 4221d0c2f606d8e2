"""What is true of programs24/deaths; as a program it writes deaths24.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, NEEDS, SENDER

HERE = "{here}/programs24/deaths/"
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
    CASES.append({"name": "d24-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


BOTH = {"kind": ("error_exit", "crash")}

# Errors that a program tells
death("not-gzip", "d24_not_gzip.py", 1, "[Nn]ot a gzipped file|BadGzip", "a shard is not packed, in spite of its name")
death("checksum", "d24_checksum.py", 1, r"encoder\.bin|checksum", "weights have another checksum", not_=("mirror 0",))
death("schedule", "d24_schedule.py", 1, "cosine_with_restarts", "a schedule is not known", shallow=("ValueError",))
death("betas", "d24_betas.py", 1, "betas", "a setting is missing", shallow=("TypeError",))
death("json-nan", "d24_json_nan.py", 1, "not JSON compliant|nan", "a loss cannot be written", shallow=("ValueError",))
death("exported", "d24_exported.py", 1, "[Ee]xisting exports|BufferError|re-sized", "a buffer in use is made larger")
death("annotations", "d24_annotations.py", 1, "ParseError|unclosed token|mismatched|no element", "a file is cut off")
death("broken-barrier", "d24_broken_barrier.py", 1, r"lynx|labels\.csv", "one of three threads fails, the others' barrier is broken",
      shallow=("loading failed in 3",), not_=("^BrokenBarrierError",))
death("incomplete", "d24_incomplete.py", 1, "1 bytes read|IncompleteRead", "an answer ends in the middle")
death("no-rule", "d24_no_rule.sh", 2, r"No rule to make target|raw/part-2\.jsonl", "make does not know how to make a source", needs=["make"])
death("no-model", "d24_no_model.sh", 255, '''Can.t call method "score"|undefined value''', "a model is not there", needs=["perl"])
death("divide", "d24_divide.sh", 2, "division by (0|zero)", "a share of nothing")
death("underflow", "d24_underflow.rs", 101, "subtract with overflow", "a window is larger than its text", **BOTH, shallow=("panic",))
death("negative", "d24_negative.go", 2, "negative WaitGroup counter", "a group is counted down twice", **BOTH, shallow=("panic",),
      not_=("read failed",))
death("class-cast", "d24_class_cast.java", 1, "ClassCast|cannot be cast", "a text where a number should be", shallow=("CompletionException|step 23 failed",))
death("byte-range", "d24_byte_range.js", 1, "out of range|70001", "a number does not fit", shallow=("RangeError",))

# Crashes
crash("interpreter", "d24_interpreter.py", 6, "Py_EndInterpreter|thread still has a frame|more than one thread",
      "an interpreter is ended while a thread runs in it", shallow=(ABORT,))
crash("null-model", "d24_null_model.c", 11, "SIGSEGV|[Ss]egmentation|null|NULL|address", "a model is not there", last="")
crash("noexcept", "d24_noexcept.cpp", 6, "bad_variant_access|wrong index", "an exception where none may be", shallow=(ABORT + "|terminate",))
crash("invalid-free", "d24_invalid_free.c", 6, "invalid pointer|munmap_chunk|invalid size", "a pointer within a buffer is given back", shallow=(ABORT,))

# Signals of others
death("killed", "d24_killed.py", -9, "SIGKILL|[Kk]illed", "somebody kills the training", killer="signal", kind=KILLED, signal=9,
      sender="outsider", outside="main KILL", last="", not_=("12 GiB", "out of memory|oom"))

# Ranks
death("vocabularies", "d24_vocabularies.py", 1, "31998|vocabulary", "rank 2 has another vocabulary", rank=2, nproc=3,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("rank-leaves", "d24_rank_leaves.py", 3, "license server|seat 9", "rank 1 leaves by a native part's choice", rank=1, nproc=2,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))

# A good end
death("good", "d24_good.py", 0, "", "errors were overcome", kind=("clean_exit",), last="run finished: 30 steps",
      not_=("out of memory", "[Rr]efused"))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths24.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
