"""What is true of programs19/deaths; as a program it writes deaths19.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, NEEDS, SENDER

HERE = "{here}/programs19/deaths/"
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
    CASES.append({"name": "d19-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


BOTH = {"kind": ("error_exit", "crash")}

# Errors that a program tells
death("unauthorized", "d19_unauthorized.py", 1, "401|[Uu]nauthorized", "a token has expired", shallow=("HTTPError",))
death("loader-key", "d19_loader_key.py", 1, "masks|KeyError", "a loader's thread has died, the trainer gives up",
      shallow=("Empty",))
death("run-exists", "d19_run_exists.py", 1, "File exists|FileExistsError", "a folder is there already",
      shallow=("OSError",))
death("percent", "d19_percent.py", 1, "'%' must be followed|Interpolation", "a sign of percent in the settings")
death("none-int", "d19_none_int.py", 1, "invalid literal|'None'", "None as a text where a number should be",
      shallow=("ValueError",))
death("ascii", "env PYTHONIOENCODING=ascii d19_ascii.py", 1, "ascii|UnicodeEncode", "the output is ASCII")
death("csv-field", "d19_csv_field.py", 1, "field larger than", "a field of a table is too long")
death("nested-run", "d19_nested_run.py", 1, "running event loop", "a loop of asyncio within another",
      shallow=("RuntimeError",))
death("signal-thread", "d19_signal_thread.py", 1, "only works in main thread", "a handler is set in a thread",
      shallow=("ValueError",))
death("daemonic", "d19_daemonic.py", 1, "daemonic", "a daemon would have children", shallow=("cannot go on",))
death("empty-map", "d19_empty_map.py", 1, "cannot mmap an empty file|empty file", "a shard is empty",
      shallow=("ValueError",))
death("octal", "d19_octal.sh", 2, "value too great|error token", "a number of a task begins with a zero",
      shallow=("--seed|expected one argument",))
death("arg-list", "d19_arg_list.sh", 126, "Argument list too long", "too many names for one command")
death("poison", "d19_poison.rs", 101, "subtract with overflow|mean",
      "a thread has panicked with a lock, main finds it so",
      shallow=("PoisonError",), **BOTH)
death("boundary", "d19_boundary.rs", 101, "char boundary", "a text is cut within a letter", **BOTH)
death("interface", "d19_interface.go", 2, "interface conversion|is string, not", "a number was a text", **BOTH)
death("duplicate", "d19_duplicate.java", 1, "Duplicate key|img_0007", "two samples have one name",
      shallow=("IllegalState",))
death("after-end", "d19_after_end.js", 1, "write after end|WRITE_AFTER_END", "a log is written to when it has ended")

# Crashes and signals
crash("bad-function", "d19_bad_function.cpp", 6, "bad_function_call", "a function that was not set is called",
      shallow=(ABORT,))
crash("self-join", "d19_self_join.cpp", 6, "Resource deadlock|system_error", "a thread joins itself", shallow=(ABORT,))
crash("null-callback", "d19_null_callback.c", 11, "SIGSEGV|[Ss]egmentation|0x0|null|NULL", "a null pointer is called",
      last="")
death("usr2", "d19_usr2.py", -12, "SIGUSR2", "a tool sends a signal that the trainer does not know", killer="signal",
      kind=KILLED, signal=12, sender="outsider", outside="main USR2", last="")

# Ranks
death("resolve", "d19_resolve.py", 1, "gaierror|[Nn]ame or service|name resolution|node-17",
      "rank 2 has the name of a node that is no more", rank=2, nproc=3, kind=("error_exit", "peer_lost"),
      shallow=(LOST,))
death("shm-exists", "d19_shm_exists.py", 1, "File exists|FileExistsError", "rank 1 would make what rank 0 has made",
      rank=1, nproc=2, kind=("error_exit", "peer_lost"), shallow=(LOST,))

# A good end
death("good", "d19_good.py", 0, "", "a probe has crashed, a worker was killed", kind=("clean_exit",),
      last="finished: 40 steps", not_=("Segmentation", "SIGKILL"))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths19.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
