"""What is true of each slow job and of the healthy ones beside them; as a program writes truth_slow6.json.

`kind` are the kinds of incident that a careful person would be content with, `culprit` and `also` are score.py's; of an own server (`world`)
the ranks are to be blamed together or not at all. `onset`: seconds after which it is slow, `factor` by how much a step is planned to be longer
than before (`since_first`: by how much that rank's own part is longer than the others').
`after`: number of a server's laps (check6.py)."""
import json
import os

CASES = []
CPU = r"comput|cpu|processor|arithmetic|python|busy"
DATA = r"load|read|data|disk|storage|\bIO\b|I/O|sleep"


def ranks(*r):
    return {"ranks": list(r)}


def role(name, of=None):
    return {"role": name} if of is None else {"role": name, "of_rank": of}


def outside(regex):
    return {"outside": regex}


def command(run):
    """"x.py": with python; "N x.py": by mpiexec; "N* x.c": compiled, as ranks of kit4.py."""
    words, before = run.split(), []
    if words[0].endswith("*"):
        before = ["{python}", "{here}/programs4/kit4.py", words.pop(0)[:-1], "--"]
    elif words[0].isdigit():
        before = ["mpiexec", "-n", words.pop(0)]
    own = ["{python}", "{here}/slow6/" + words[0]] if words[0].endswith(".py") else ["{bin}/" + words[0][:-2]]
    return before + own


def slow(name, run, kind, culprit, why, about, factor, also=(), needs=(), **more):
    truth = {"kind": kind.split(), "culprit": culprit, "also": list(also), "why": [why]}
    CASES.append({"name": "s6-" + name, "class": "slow", "run": command(run), "needs": list(needs), "about": about, "seconds": 210, "onset": 72,
                  "factor": factor, "truth": truth, **more})


def healthy(name, run, about, seconds, needs=()):
    CASES.append({"name": "s6-q-" + name, "class": "healthy", "run": command(run), "needs": list(needs), "about": about, "seconds": seconds,
                  "truth": {"kind": ["none"]}})


# One rank
slow("hub-compute", "s6_hub_compute.py", "straggler", ranks(2), CPU, "rank 2 computes more, sums at rank 0 over TCP", 2.0)
slow("mesh-loader", "s6_mesh_loader.py", "straggler", ranks(1), DATA + "|queue",
     "the loading process of rank 1 sleeps longer between items, unix sockets and tqdm", 3.5, also=[role("loader1", 1)], needs=["tqdm"])
slow("pipe-feed", "s6_pipe_feed.py", "straggler", ranks(0), DATA + "|pipe|decod",
     "the decoder that rank 0 reads from by a pipe is slow, a ring of pipes", 3.0, also=[role("decoder0", 0)])
slow("neighbour", "s6_neighbour.py", "straggler slowdown", ranks(1),
     r"cpu|processor|core\b|cores|neighbour|shares|runnable|run queue|steal|compet",
     "four busy processes are bound to the core of rank 1", 2.6, also=[role("neighbour", 1)], needs=["taskset"])
slow("zmq-gc", "s6_zmq_gc.py", "straggler", ranks(3), CPU + "|garbage|gc|collect",
     "rank 3 collects garbage in each step, ZeroMQ", 2.0, needs=["zmq"])
slow("mpi-checkpoint", "3 s6_mpi_checkpoint.py", "straggler", ranks(0), r"checkpoint|save|sav|writ|disk|fsync|\bIO\b|I/O|storage",
     "rank 0 writes its checkpoint in each step, MPI", 2.1, needs=["mpi4py", "numpy", "mpiexec"])
slow("shm-sem", "4* s6_shm_sem.c", "straggler", ranks(1), CPU, "rank 1 computes more, semaphores in shared memory, C", 2.2, needs=["gcc"])
slow("files-small", "s6_files_small.py", "straggler", ranks(2), DATA + "|file|open",
     "rank 2 reads many small files, sums by files of a folder", 2.7)
slow("first-step", "s6_first_step.py", "straggler", ranks(3), CPU + "|work|more|slow",
     "rank 3 has three times the work from the first step on, a tree over TCP", 3.0, since_first=3, onset=0, seconds=170)
slow("alternates", "s6_alternates.py", "straggler", ranks(1), CPU, "rank 1 computes more in two of three steps, recursive doubling over TCP", 2.1,
     needs=["tqdm"])

# All together
slow("queue-lock", "s6_queue_lock.py", "slowdown", ranks(), r"lock|contend|semaphore|turns|\bIO\b|I/O|disk|sleep|writ",
     "all workers hold one lock longer in each step, queues of multiprocessing", 2.1, also=[ranks(0, 1, 2, 3)])
slow("all-compute", "s6_all_compute.py", "slowdown", ranks(), CPU, "both ranks compute more alike, a ring over TCP", 2.0, also=[ranks(0, 1)])
SERVED = r"server|serve\b|127\.0\.0\.1:\d+|localhost:\d+"
slow("http-batches", "s6_http_batches.py", "slowdown straggler", role("server"),
     r"serve|wait|recv|http|tcp|network|data|load|sleep|service|read", "the server that all ranks fetch from is slow", 3.0,
     world=4, also=[outside(SERVED)])
slow("push-pull", "s6_push_pull.py", "slowdown straggler", role("server"), r"serve|wait|recv|tcp|comput|cpu|update|parameter|process",
     "the server of parameters, no rank, computes more", 2.2, world=3, after=3, also=[outside(SERVED)])
slow("one-loader", "s6_one_loader.py", "slowdown", ranks(), DATA + "|queue",
     "a single process waits for its loading threads, whose disk is slow", 3.2, also=[ranks(0)], needs=["tqdm"])

healthy("jitter", "s6_q_jitter.py", "reads and batches vary by chance on all ranks", 180)
healthy("evaluation", "s6_q_evaluation.py", "rank 0 evaluates for 14 s each 60 steps", 180)
healthy("first-step", "s6_q_first_step.py", "the first step compiles for half a minute", 170, needs=["tqdm"])
healthy("sequences", "s6_q_sequences.py", "sequences get longer and shorter by the plan", 200)
healthy("checkpoints", "s6_q_checkpoints.py", "rank 0 saves for 5 s each 50 steps", 180)
healthy("rank0-more", "s6_q_rank0_more.py", "rank 0 does five percent more", 170)
healthy("batches", "s6_q_batches.py", "steps of 0.3 to 0.9 s by the length of the batch", 180, needs=["zmq"])
healthy("pause", "s6_q_pause.py", "one pause of 18 s", 180)

if __name__ == "__main__":
    names = [c["name"] for c in CASES]
    assert len(names) == len(set(names))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "truth_slow6.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in CASES) + "\n]\n")
    print({k: sum(c["class"] == k for c in CASES) for k in ("slow", "healthy")})
