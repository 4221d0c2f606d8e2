"""What is true of programs22/deaths; as a program it writes deaths22.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, NEEDS, SENDER

HERE = "{here}/programs22/deaths/"
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
    CASES.append({"name": "d22-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


BOTH = {"kind": ("error_exit", "crash")}

# Errors that a program tells
death("missing-keys", "d22_missing_keys.py", 1, r"[Mm]issing key|Unexpected key|module\.", "weights have other names",
      shallow=("RuntimeError|loading state_dict",))
death("nan-loss", "d22_nan_loss.py", 1, r"\bnan\b|not finite", "a rate is too high", shallow=("FloatingPointError",))
death("collate-sizes", "d22_collate_sizes.py", 1, "equal size|stack expects", "rows of a batch differ in their length",
      shallow=("WorkerError|loading process|ValueError",))
death("local-rank-arg", "d22_local_rank_arg.sh", 2, "unrecognized arguments|local_rank", "an argument is not known",
      shallow=("usage|status 2",))
death("gpu-memory", "d22_gpu_memory.py", 1, "CUDA out of memory|GPU.*memory|device's memory", "a batch does not fit into the device",
      kind=("gpu_oom", "error_exit"), shallow=("OutOfMemoryError",))
death("yaml-rate", "d22_yaml_rate.py", 1, "not supported between|'float' and 'str'", "a number came as text", shallow=("TypeError",))
death("no-module", "d22_no_module.py", 1, "No module named|flash_attention_kernels", "a module is not installed",
      shallow=("ModuleNotFoundError",))
death("study-locked", "d22_study_locked.py", 1, "database is locked", "another worker writes to a study",
      shallow=("OperationalError",))
death("read-timeout", "d22_read_timeout.py", 1, "timed out", "a server does not answer in time", shallow=("TimeoutError",))
death("unbound", "d22_unbound.sh", 1, "unbound variable|SLURM_TMPDIR_LOCAL", "a variable is not set")
death("time-limit", "d22_time_limit.sh", 124, r"124|time ?out|time limit", "a script's own limit of time",
      kind=("error_exit", "killed_by"), killer=["none", "signal"], last="status 124")
death("all-asleep", "d22_all_asleep.go", 2, "all goroutines are asleep|deadlock", "a channel is not closed", **BOTH)
death("vocabulary", "d22_vocabulary.rs", 101, "index out of bounds|32000", "a token has no row", **BOTH, shallow=("panic",))
death("no-loss", "d22_no_loss.js", 1, "Cannot read propert|reading 'loss'|undefined", "an answer has another form",
      shallow=("TypeError",))
death("changed-list", "d22_changed_list.java", 1, "ConcurrentModification", "a list is changed while it is gone through",
      needs=())

# Crashes
crash("label-range", "d22_label_range.cpp", 6, r"out_of_range|_M_range_check|>= this->size", "a label is too large", shallow=(ABORT,))
crash("other-cpu", "d22_other_cpu.c", 4, "SIGILL|[Ii]llegal instruction", "an instruction is not there", last="")
crash("bus", "d22_bus.py", 7, "SIGBUS|[Bb]us error|truncat|mapped file|shorter", "a mapped file has become shorter", last="")

# Signals of others
death("usr1", "d22_usr1.py", -10, "SIGUSR1|USR1", "a signal that was asked for and is not handled", killer="signal",
      kind=KILLED, signal=10, sender="outsider", outside="main USR1", last="")
death("hangup", "d22_hangup.py", -1, "SIGHUP|[Hh]ang ?up|terminal", "a terminal is closed", killer="signal", kind=KILLED,
      signal=1, sender="outsider", outside="main HUP", last="")
death("rank-killed", "d22_rank_killed.py", -9, "SIGKILL|[Kk]illed", "rank 1 is killed by somebody", killer="signal",
      kind=("killed_by", "peer_lost", "error_exit"), signal=9, sender="outsider", rank=1, nproc=2, outside="rank1 KILL",
      last="", shallow=(LOST,))

# Ranks
death("folder-race", "d22_folder_race.py", 1, "File exists|FileExists|checkpoint-20", "both ranks make a folder", rank=1, nproc=2,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("index-error", "d22_index_error.py", 1, "list index out of range|IndexError", "rank 2 has fewer samples", rank=2, nproc=3,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))

# A good end
death("good", "d22_good.py", 0, "", "errors were overcome", kind=("clean_exit",), last="training complete: 30 steps",
      not_=("reset by peer", "loss spike"))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths22.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
