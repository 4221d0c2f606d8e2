"""What is true of each slow job of the seventh set, told as in slow6/cases6.py; as a program writes truth_slow7.json."""
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "slow6"))
from cases6 import CPU, DATA, SERVED, outside, ranks, role  # noqa: E402

CASES = []


def slow(name, run, kind, culprit, why, about, factor, also=(), needs=(), **more):
    truth = {"kind": kind.split(), "culprit": culprit, "also": list(also), "why": [why]}
    CASES.append({"name": "s7-" + name, "class": "slow", "run": ["{python}", "{here}/slow7/" + run], "needs": list(needs), "about": about, "seconds": 210,
                  "onset": 72, "factor": factor, "truth": truth, **more})


def healthy(name, run, about, seconds, needs=()):
    CASES.append({"name": "s7-q-" + name, "class": "healthy", "run": ["{python}", "{here}/slow7/" + run], "needs": list(needs), "about": about,
                  "seconds": seconds, "truth": {"kind": ["none"]}})


slow("long-documents", "s7_long_documents.py", "straggler", ranks(1), CPU + "|token|regular", "rank 1 has longer documents to tokenize", 2.1)
slow("prefetch-disk", "s7_prefetch_disk.py", "straggler", ranks(3), DATA + "|queue|prefetch", "the thread that reads ahead for rank 3 has a slow disk", 2.4)
slow("sync-each", "s7_sync_each.py", "straggler", ranks(0), r"checkpoint|save|sav|writ|disk|fsync|\bIO\b|I/O|storage|sleep", "rank 0 writes its state in each step to a slow disk", 2.6)
slow("duty-cycle", "s7_duty_cycle.py", "straggler slowdown", ranks(2), r"stop|SIGSTOP|SIGCONT|frozen|throttl|suspend|signal", "rank 2 is stopped for 0.6 s of each second", 1.7,
     also=[role("throttle"), role("rank2", 2)])
slow("busy-thread", "s7_busy_thread.py", "straggler", ranks(1), CPU + "|GIL|interpreter|thread|quality", "a thread of rank 1 computes all the time", 1.6)
slow("log-lock", "s7_log_lock.py", "slowdown", ranks(), r"lock|contend|turns|\bIO\b|I/O|disk|sleep|writ|metrics\.csv", "all ranks write under one lock to a slow disk", 3.0,
     also=[ranks(0, 1, 2)])
slow("key-server", "s7_key_server.py", "slowdown straggler", role("server"), r"serve|wait|recv|tcp|network|data|load|sleep|service|read|feature",
     "the server that all ranks ask for features is slow", 2.4, world=3, also=[outside(SERVED)])
slow("sink", "s7_sink.py", "slowdown straggler", role("server"), r"serve|wait|recv|tcp|comput|cpu|sum|zmq|zeromq|process", "the process that adds up for all computes more", 2.2,
     world=3, after=3, needs=["zmq"], also=[outside(SERVED)])
slow("fewer-loaders", "s7_fewer_loaders.py", "slowdown", ranks(), DATA + "|queue", "three of four loading processes have left", 2.6,
     also=[ranks(0), role("loader0")], needs=["tqdm"])

healthy("curriculum", "s7_q_curriculum.py", "sequences get longer by the plan, a step by a fifth", 180)
healthy("all-save", "s7_q_all_save.py", "all ranks save for 7 s each 45 steps", 180)
healthy("bit-more", "s7_q_bit_more.py", "rank 3 does a tenth more", 170)
healthy("lengths", "s7_q_lengths.py", "steps of 0.3 to 0.8 s by chance", 180, needs=["tqdm"])
healthy("refill", "s7_q_refill.py", "rank 1 fills its cache for 11 s each 50 steps", 180)
healthy("rollouts", "s7_q_rollouts.py", "steps of 0.3 to 1.1 s by chance", 180)

if __name__ == "__main__":
    names = [c["name"] for c in CASES]
    assert len(names) == len(set(names))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "truth_slow7.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
    print({k: sum(c["class"] == k for c in CASES) for k in ("slow", "healthy")})
