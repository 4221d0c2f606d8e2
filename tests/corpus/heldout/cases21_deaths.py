"""What is true of programs21/deaths; as a program it writes deaths21.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, NEEDS, SENDER

HERE = "{here}/programs21/deaths/"
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
    CASES.append({"name": "d21-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


BOTH = {"kind": ("error_exit", "crash")}

# Errors that a program tells
death("shape", "d21_shape.py", 1, "cannot be multiplied|1024|768", "features are wider than a layer",
      shallow=("RuntimeError",))
death("pickle-lambda", "d21_pickle_lambda.py", 1, "[Cc]an't pickle|<lambda>", "a spawned loader gets a lambda",
      shallow=("AttributeError",))
death("bootstrap", "d21_bootstrap.py", 1, "bootstrapping|__main__|freeze_support|start a new process",
      "a process is spawned while the program is imported", shallow=("the loader has failed",))
death("empty-json", "d21_empty_json.py", 1, "Expecting value|JSONDecode", "a file of state is empty")
death("api-key", "d21_api_key.py", 1, "TRACKING_SERVICE_API_KEY", "a key is not in the environment", shallow=("KeyError",))
death("no-folder", "d21_no_folder.py", 1, "No such file|run-3", "a checkpoint's folder is not there",
      shallow=("FileNotFoundError",))
death("none-image", "d21_none_image.py", 1, "NoneType|no attribute 'shape'", "an image could not be read",
      shallow=("AttributeError",))
death("import-name", "d21_import_name.py", 1, "cannot import name|cached_download", "a library has lost a function",
      shallow=("ImportError",))
death("batch-sizes", "d21_batch_sizes.py", 1, "train_batch_size|64 != 4", "sizes of batches do not go together",
      shallow=("AssertionError",))
death("weights-404", "d21_weights_404.py", 1, "404", "weights are not found", shallow=("HTTPError",))
death("no-space", "d21_no_space.py", 1, "No space left|ENOSPC", "a full disk, told in other words",
      shallow=("could not be saved|CheckpointError",))
death("worker-killed", "d21_worker_killed.py", 1, "killed by signal|SIGKILL|loader|loading process",
      "a loader was killed, its parent fails", kind=("error_exit", "killed_by"), killer=["none", "signal"],
      outside="loader KILL", last="is killed by signal")
death("not-found", "d21_not_found.sh", 127, "command not found|convert-to-onnx|127", "a tool is not installed")
death("nil-map", "d21_nil_map.go", 2, "nil map", "a map was never made", **BOTH)
death("none", "d21_none.rs", 101, "on a `?None|unwrap", "a word is not in the vocabulary", **BOTH)
death("null", "d21_null.java", 1, "NullPointer|because .* is null", "a record has no text")
death("refused", "d21_refused.js", 1, "ECONNREFUSED|refused", "a service is not there any more")

# Crashes and signals
crash("joinable", "d21_joinable.cpp", 6, "without an active exception|terminate", "a thread was not joined",
      shallow=(ABORT,))
crash("double-free", "d21_double_free.c", 6, "double free|free\\(\\)", "a batch is freed twice", shallow=(ABORT,))
death("terminated", "d21_terminated.py", -15, "SIGTERM|[Tt]erminat", "a training is told to end", killer="signal",
      kind=KILLED, signal=15, sender="outsider", outside="main TERM", last="")
death("interrupt", "d21_interrupt.py", -2, "SIGINT|[Ii]nterrupt", "Ctrl-C", killer=["signal", "none"], kind=KILLED,
      signal=2, outside="main INT", last="KeyboardInterrupt")

# Ranks
death("port-in-use", "d21_port_in_use.py", 1, "Address already in use|EADDRINUSE", "rank 0 opens a port twice", rank=0,
      nproc=2, kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("device-assert", "d21_device_assert.py", 1, "device-side assert|label 80|n_classes", "rank 1 has a label too large",
      rank=1, nproc=3, kind=("error_exit", "peer_lost"), shallow=(LOST,))

# A good end
death("good", "d21_good.py", 0, "", "an error was handled", kind=("clean_exit",), last="training complete: 40 steps",
      not_=("No such file", "out of memory"))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths21.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
