"""What is true of programs25/deaths; as a program it writes deaths25.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import MAYBE, NEEDS, SENDER

HERE = "{here}/programs25/deaths/"
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
    CASES.append({"name": "d25-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


# Errors that a program tells
death("embedding", "d25_embedding.py", 1, "50257", "a token is not in the table", needs=["numpy"], shallow=("IndexError",))
death("remainder", "d25_remainder.py", 1, r"31,\s*10|broadcast", "a last batch has another size", needs=["numpy"])
death("unwrap", "d25_unwrap.rs", 101, "invalid float|ParseFloat", "a record has no number", shallow=("unwrap",))
death("unbound", "d25_unbound.sh", 1, "SLURM_TMPDIR", "a variable of a script is not set")
death("recipe", "d25_recipe.sh", 2, "3 of 500", "a stage of make fails", shallow=("Error 4",))
death("arguments", "d25_arguments.py", 2, "--batch-size", "an argument is not known")
death("deep", "d25_deep.py", 1, "[Rr]ecursion", "a configuration refers to itself")
death("full", "d25_full.py", 1, "No space left", "there is no room for a checkpoint")
death("no-device", "d25_no_device.py", 1, "no accelerator", "it says itself why it leaves")
death("rejection", "d25_rejection.js", 1, "19 parts", "a promise fails that nobody waits for")
death("map-writes", "d25_map_writes.go", 2, "concurrent map", "two goroutines write one map", kind=("error_exit", "crash"))
death("mpi-abort", "mpiexec -n 2 d25_mpi_abort.py", 3, "another checksum", "rank 1 of MPI ends all",
      needs=["mpi4py", "mpiexec"], kind=("error_exit", "peer_lost", "killed_by"), killer=MAYBE, shallow=("[Aa]bort",))

# Crashes
death("pool-crash", "d25_pool_crash.py", 1, "SIGSEGV|[Ss]egmentation|signal 11", "a worker of a pool crashes",
      killer=["none", "kernel"], kind=("error_exit", "crash"), shallow=("terminated abruptly|BrokenProcessPool",), last="terminated abruptly")
crash("range", "d25_range.cpp", 6, "out_of_range|range_check", "a label is behind the end of a table", shallow=(ABORT,))
crash("kernel-assert", "d25_kernel_assert.cpp", 6, "divisible by num_heads|dim % heads", "a check of shapes fails", shallow=(ABORT,))
crash("division", "d25_division.c", 8, "SIGFPE|[Ff]loating point|divi", "a mean over nothing", last="")

# Signals and ranks
death("preempted", "d25_preempted.py", -15, "SIGTERM", "somebody ends it", killer="signal", kind=("killed_by",), signal=15,
      sender="outsider", not_=("shard 3",), outside="main TERM", last="")
death("own-alarm", "d25_own_alarm.py", -14, "SIGALRM|alarm", "an alarm that it has set itself",
      killer=["signal", "kernel", "none"], kind=("killed_by", "crash"), signal=14, last="")
death("watchdog", "d25_watchdog.py", None, "Watchdog|ran for 6003|timeout", "rank 0 is late, rank 1's watchdog ends rank 1", nproc=2, rank=0,
      killer=["none", "kernel"], kind=("crash", "error_exit", "peer_lost"), signal=6, shallow=(ABORT, LOST))
death("nan-rank", "d25_nan_rank.py", 1, "nan at step 35", "rank 2's loss is not finite", nproc=3, rank=2,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))

# A good end
death("well", "d25_well.py", 0, "", "a worker was replaced, then it stops early", kind=("clean_exit",), last="")

if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "deaths25.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
    print(len(CASES))
