"""What is true of each slow job of the eighth set, told as in slow6/cases6.py; as a program writes truth_slow8.json."""
import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "slow6"))
from cases6 import CPU, DATA, SERVED, outside, ranks, role  # noqa: E402

CASES = []


def slow(name, run, kind, culprit, why, about, factor, also=(), needs=(), **more):
    truth = {"kind": kind.split(), "culprit": culprit, "also": list(also), "why": [why]}
    CASES.append({"name": "s8-" + name, "class": "slow", "run": ["{python}", "{here}/slow8/" + run], "needs": list(needs), "about": about, "seconds": 210,
                  "onset": 72, "factor": factor, "truth": truth, **more})


def healthy(name, run, about, seconds, needs=()):
    CASES.append({"name": "s8-q-" + name, "class": "healthy", "run": ["{python}", "{here}/slow8/" + run], "needs": list(needs), "about": about,
                  "seconds": seconds, "truth": {"kind": ["none"]}})


slow("augment", "s8_augment.py", "straggler", ranks(2), CPU + "|augment|numpy", "worker 2 augments larger images", 2.2, also=[role("rank2", 2)], needs=["numpy"])
slow("mirror", "s8_mirror.py", "straggler", ranks(3), DATA + "|http|tcp|recv|network|mirror|wait", "the mirror of worker 3 is slow", 3.3,
     also=[role("mirror3", 3), role("rank3", 3), outside(SERVED)])
slow("validates", "s8_validates.py", "straggler", ranks(1), CPU + "|validat", "worker 1 validates after each step", 2.4, also=[role("rank1", 1)])
slow("back-off", "s8_back_off.py", "straggler", ranks(0), r"sleep|retry|http|429|reward|back|wait|service", "worker 0 is told to ask again later", 2.9,
     also=[role("rank0", 0), role("server"), outside(SERVED)])
slow("history", "s8_history.py", "slowdown", ranks(), CPU + r"|json|history|writ|disk|\bIO\b|I/O", "a trainer writes its whole history each step", 2.0, also=[ranks(0), role("main")],
     needs=["tqdm"])
slow("aio-ps", "s8_aio_ps.py", "slowdown straggler", role("server"), r"serve|wait|recv|tcp|comput|cpu|optimi|process", "a server of parameters computes more", 2.4,
     world=4, after=4, also=[outside(SERVED)])
slow("compresses", "s8_compresses.py", "straggler", ranks(0), CPU + r"|zlib|compress|save|sav|writ|disk|\bIO\b|I/O", "worker 0 compresses its state each step", 2.2,
     also=[role("rank0", 0)])

healthy("first-steps", "s8_q_first_steps.py", "the first steps take 2 s", 170)
healthy("evaluates", "s8_q_evaluates.py", "both evaluate for 6 s each 40 steps", 180)
healthy("rotates", "s8_q_rotates.py", "worker 2 rotates its logs for 9 s each 60 steps", 180)
healthy("augments", "s8_q_augments.py", "steps of 0.25 to 0.65 s by chance", 180)
healthy("one-trainer", "s8_q_one_trainer.py", "each 30th batch takes 3 s", 170, needs=["tqdm"])

if __name__ == "__main__":
    names = [c["name"] for c in CASES]
    assert len(names) == len(set(names))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "truth_slow8.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
    print({k: sum(c["class"] == k for c in CASES) for k in ("slow", "healthy")})
