"""What is true of programs20/deaths; as a program it writes deaths20.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, NEEDS, SENDER

HERE = "{here}/programs20/deaths/"
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
    CASES.append({"name": "d20-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


BOTH = {"kind": ("error_exit", "crash")}

# Errors that a program tells
death("learning-rate", "d20_learning_rate.py", 1, "not supported between|'str' and 'float'|TypeError",
      "a rate of learning was read as a text")
death("lfs-pointer", "d20_lfs_pointer.py", 1, "invalid load key", "the weights are a pointer of git-lfs",
      shallow=("UnpicklingError",))
death("state-dict", "d20_state_dict.py", 1, r"Missing key|module\.|Unexpected key", "weights have other names",
      shallow=("loading state_dict|RuntimeError",))
death("nan-int", "d20_nan_int.py", 1, "NaN to integer", "an empty cell becomes a whole number", shallow=("ValueError",))
death("no-batches", "d20_no_batches.py", 1, "division by zero|ZeroDivision", "a validation without a batch")
death("notebook", "d20_notebook.py", 1, "Is a directory|ipynb_checkpoints", "a folder among images")
death("local-rank", "d20_local_rank.py", 1, "unrecognized arguments|--local-rank",
      "an option with a dash is not known", shallow=("CalledProcessError|exit status 2",))
death("truncated", "d20_truncated.py", 1, "truncated", "an image is not whole, a worker finds",
      shallow=("RemoteTraceback|OSError",))
death("changed-size", "d20_changed_size.py", 1, "changed size during iteration",
      "a thread adds to what main goes over", shallow=("RuntimeError",))
death("locked", "d20_locked.py", 1, "database is locked", "a worker keeps a transaction open",
      shallow=("OperationalError",))
death("shared-object", "d20_shared_object.py", 1, "libcudart|cannot open shared object",
      "a library of another version is wanted", shallow=("OSError",))
death("collate-none", "d20_collate_none.py", 1, "cannot read image-131|NoneType",
      "a sample that could not be read is None", shallow=("TypeError",))
death("unbound", "d20_unbound.sh", [1, 127], "unbound variable|SLURM_ARRAY_TASK_ID", "a variable is not set")
death("pipefail", "d20_pipefail.sh", 141, "SIGPIPE|[Bb]roken pipe|141",
      "a tool that writes into a closed pipe counts as failed", kind=("error_exit", "crash", "killed_by"),
      killer=["none", "signal"], last="")
death("time-limit", "d20_time_limit.sh", 124, "timeout|124|time limit|SIGTERM", "timeout ends a training after 5 s",
      kind=KILLED, killer=["none", "signal"], last="")
death("maps", "d20_maps.go", 2, "concurrent map", "goroutines write one map", **BOTH)
death("comma", "d20_comma.rs", 101, "ParseFloat|invalid float", "a number has a comma", shallow=("unwrap|Err",), **BOTH)
death("modified", "d20_modified.java", 1, "ConcurrentModification", "a list is made shorter while it is gone over")
death("rejected", "d20_rejected.js", 1, "reading 'loss'|undefined", "an answer has no result", shallow=("TypeError",))

# Crashes and signals
crash("range", "d20_range.cpp", 6, "out_of_range|range_check|32007", "a word is not in the table", shallow=(ABORT,))
death("hangup", "d20_hangup.py", -1, "SIGHUP|[Hh]angup|hang up|hung up", "a terminal's hangup", killer="signal",
      kind=KILLED, signal=1, sender="outsider", outside="main HUP", last="")

# Ranks
death("rotated", "d20_rotated.py", 1, "No such file|step10", "rank 1 loads a checkpoint that rank 0 has removed", rank=1,
      nproc=2, kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("ordinal", "d20_ordinal.py", 1, "invalid device ordinal", "rank 2 takes a device that the machine has not",
      rank=2, nproc=3, kind=("error_exit", "peer_lost"), shallow=(LOST,))

# A good end
death("good", "d20_good.py", 0, "", "what failed was done in another way", kind=("clean_exit",),
      last="finished: 40 steps", not_=("out of memory", "137"))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths20.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
