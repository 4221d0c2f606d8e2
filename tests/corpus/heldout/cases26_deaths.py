"""What is true of programs26/deaths; as a program it writes deaths26.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import MAYBE, NEEDS, SENDER

HERE = "{here}/programs26/deaths/"
CASES = []
LOST = "EOF|reset|[Bb]roken pipe|closed|[Cc]onnection"


def death(name, run, leaves, why, about, killer="none", kind=("error_exit",), signal=None, sender=None, rank=None,
          not_=(), shallow=(), needs=("torch",), **more):
    """As in cases6_deaths.py."""
    words, suffix = cases6_deaths.command(run, HERE)
    truth = {"killer": killer, "kind": list(kind), "signal": signal, "sender": sender, "rank": rank, "why": [why],
             "not": list(not_)}
    if shallow:
        truth["shallow"] = list(shallow)
    check = {"exit": leaves, **{k: more.pop(k) for k in ("last", "early") if k in more}}
    if "outside" in more:
        more["outside"] = ["{python}", SENDER, *more["outside"].split()]
    CASES.append({"name": "d26-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


# Errors of one process
death("shapes", "d26_shapes.py", 1, "mat1 and mat2|16x64", "a head has another width")
death("vocabulary", "d26_vocabulary.py", 1, "index out of range", "a token is not in the table")
death("old-weights", "d26_old_weights.py", 1, "Missing key|state_dict", "weights are of another version")
death("half-file", "d26_half_file.py", 1, "central directory|zip archive|PytorchStreamReader|Invalid argument", "a checkpoint is half there")
death("worker-error", "d26_worker_error.py", 1, "0311.jpg", "a worker of a loader cannot read a sample", shallow=("Caught OSError",))
death("worker-crash", "d26_worker_crash.py", 1, "[Ss]egmentation|SIGSEGV|signal 11", "a worker of a loader crashes",
      killer=["none", "kernel"], kind=("error_exit", "crash"), shallow=("exited unexpectedly|DataLoader worker",), last="DataLoader worker")
death("port", "d26_port.py", 1, "EADDRINUSE|[Aa]ddress already in use", "the port of the rendezvous is taken")

# Ranks
death("elastic", "d26_elastic.py", 1, "does not require grad", "rank 1 under torchrun calls backward of what has no gradient",
      rank=1, kind=("error_exit", "peer_lost"), shallow=("ChildFailedError", LOST))
death("unused", "d26_unused.py", 1, "Expected to have finished reduction", "parameters have no part in the loss", nproc=2,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))
CASES[-1]["truth"]["rank"] = None
death("lost", "d26_lost.py", 4, "quota|50 GB", "rank 2 leaves by its own word, the others lose it", nproc=3, rank=2,
      kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("absent", "d26_absent.py", None, "[Rr]ank 1 failed|ranks? 1|monitored", "rank 1 is late at a monitored barrier", nproc=2, rank=1,
      kind=("error_exit", "peer_lost"), killer=MAYBE, shallow=("timed? ?out|Timed", LOST))

# Ray, signals, a good end
death("ray-task", "d26_ray_task.py", 1, "prompt_text", "a task of Ray fails", needs=("ray",), shallow=("RayTaskError",))
death("ray-actor", "d26_ray_actor.py", 1, "license|exit code 9|SYSTEM_ERROR", "an actor of Ray leaves", needs=("ray",),
      last="ActorDied|RayActorError|actor died", shallow=("ActorDiedError|RayActorError|actor died",))
death("preempted", "d26_preempted.py", None, "SIGTERM", "torchrun is ended by somebody", killer=["signal", "none"],
      kind=("killed_by", "error_exit"), signal=15, sender="outsider", outside="main TERM", last="")
death("well", "d26_well.py", 0, "", "a warning, and an error that was handled", kind=("clean_exit",), last="")

if __name__ == "__main__":
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "deaths26.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
    print(len(CASES))
