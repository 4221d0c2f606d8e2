"""What is true of each program of programs12; `cases12.py` as a program writes truth12.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h12-", "programs12")
CASES = BOOK.cases
NOBODY = {"nobody": NEVER}
POLL = "poll|sleep|loop|retr|"
GLOO = "all.?reduce|backward|gradient|collective|not in|elsewhere|behind|ahead|another|different|gloo|futex|cond|recv|epoll|tcp|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|"
LOADER = "loader|worker|child|queue|fork|batch|poll|pipe|not in|elsewhere|"
RAY = "ray|raylet|gcs|actor|task|object|result|schedul|resource|"
NOT_RUN = r"raylet|gcs_server|schedul|resource|not (been )?started|no (free )?(CPU|worker)"


def everyone(n):
    return cycle(*["rank%d" % r for r in range(n)])


def hang(name, wait, needs, *rest, **more):
    BOOK.hang(name, wait, "h12_%s.py" % name.replace("-", "_"), *rest, needs=needs.split(), **more)


def quiet(name, wait, needs, *rest):
    BOOK.quiet(name, wait, "h12_%s.py" % name.replace("-", "_"), *rest, needs=needs.split())


# Ranks of PyTorch: a collective that not all are in
hang("uneven", "gloo", "torch", ranks(2), GLOO + "barrier|fewer|uneven|" + CIRCLE,
     "rank 2 has three batches fewer and is in the barrier after the epoch, the others are in backward",
     {**all_of(3, "futex@backward", 2), "rank2": "futex@end_of_epoch"}, also=[everyone(3), cycle("rank0", "rank2"), cycle("rank1", "rank2")])
hang("eval-rank0", "gloo", "torch", ranks(0), GLOO + "barrier|evaluat|" + CIRCLE,
     "rank 0 alone evaluates, and reduces in there; the others are at the barrier behind it", {**all_of(4, "futex@barrier", 0), "rank0": "futex@evaluate"},
     also=[everyone(4)])
hang("nan-break", "gloo", "torch", ranks(1), GLOO + "gather|nan|" + CIRCLE,
     "rank 1 has left the loop by a loss that is no number and gathers the histories, the others are in backward",
     {**all_of(3, "futex@backward", 1), "rank1": "futex@collect_histories"}, also=[everyone(3), cycle("rank0", "rank1"), cycle("rank1", "rank2")])
hang("early-stop", "store", "torch", ranks(2), GLOO + "store|poll|stop|" + CIRCLE,
     "rank 2 has stopped early and waits in the store for the others, who are in backward",
     {**all_of(3, "futex@backward", 2), "rank2": "~poll|recv@wait_for_the_others"}, also=[everyone(3), cycle("rank0", "rank2"), cycle("rank1", "rank2")])
hang("new-group", "store", "torch", ranks(2), GLOO + "new_group|store|group|barrier|poll|" + CIRCLE,
     "ranks 0 and 1 make a group that rank 2 has to make too; it is in the next step",
     {**all_of(2, "~poll|recv|nanosleep|futex@evaluation_group"), "rank2": "futex@backward"},
     also=[ranks(0, 1), everyone(3), cycle("rank0", "rank2"), cycle("rank1", "rank2")])
hang("metric-order", "gloo", "torch", cycle("rank0", "rank1"), GLOO + "order|gather|" + CIRCLE,
     "rank 1 gathers a list where rank 0 reduces a number, each in its own order of metrics", {"rank0": "futex@reduce_scalar", "rank1": "futex@gather_list"},
     also=[ranks(0), ranks(1), ranks(0, 1)])
hang("send-send", "gloo", "torch", cycle("rank0", "rank1"), GLOO + "send|" + CIRCLE, "both ranks send their weights to the other before they receive",
     all_of(2, "futex@swap"), also=[ranks(0, 1)])
hang("swallowed", "gloo", "torch", ranks(2), GLOO + "barrier|skip|except|" + CIRCLE,
     "rank 2 has skipped a step that raised and is at the last barrier, the others reduce",
     {**all_of(3, "futex@average_gradients", 2), "rank2": "futex@monitored_barrier"}, also=[everyone(3), cycle("rank0", "rank2"), cycle("rank1", "rank2")])
hang("unused", "gloo", "torch", ranks(1), GLOO + "barrier|unused|" + CIRCLE,
     "rank 1 has no gradient for one head and is in the barrier, rank 0 waits in backward for that bucket",
     {"rank0": "futex@backward", "rank1": "futex@barrier"}, also=[cycle("rank0", "rank1")])
hang("fsdp-state", "gloo", "torch", ranks(0), GLOO + "barrier|gather|state|save|" + CIRCLE,
     "rank 0 alone takes the state of a sharded model, rank 1 is at the barrier behind it", {"rank0": "futex@state_dict", "rank1": "futex@barrier"},
     also=[cycle("rank0", "rank1")])

# ... and one that is busy otherwise, or gone
hang("future", "future", "torch", ranks(1), GLOO + "future|thread|batch|" + GONE + "|" + NEVER,
     "rank 1 waits for a future that its thread, which has ended by an error, would set", {"rank0": "futex@backward", "rank1": "futex@wait"}, also=[NOBODY])
hang("store-key", "store", "torch", ranks(1), GLOO + "store|poll|key|get|" + NEVER,
     "rank 1 gets a key from the store that nobody sets, the others are in backward",
     {"rank0": "futex@backward", "rank1": "~poll|recv@newest_checkpoint", "rank2": "futex@backward"}, also=[NOBODY])
hang("dead-held", "gloo", "torch", ranks(1), GONE, "rank 1 has killed itself; a process that it forked has its sockets open, so the others were not told",
     {"rank0": "futex@backward", "rank1": "gone", "rank2": "futex@backward", "sampler": "~nanosleep|select"}, gone=True, also=[role("sampler")])
hang("rpc-back", "rpc", "torch", cycle("rank0", "rank1"), GLOO + "rpc|itself|own|poll|" + CIRCLE,
     "all threads for requests of both ranks wait for answers of the other",
     {"rank0": "futex|epoll_wait@rpc_sync", "rank1": "futex|epoll_wait@rpc_sync"}, also=[ranks(0), ranks(1), ranks(0, 1)])

# Loaders, locks, queues
hang("fork-lock", "lock", "torch", role("loader1"), FUTEX + LOADER + GONE + "|" + NEVER,
     "a worker of rank 1's loader wants a lock that a thread of rank 1 had when it was forked",
     {"rank0": "futex@backward", "rank1": "~poll@_try_get_data|_get_data", "loader1": "futex@__getitem__"}, also=[ranks(1), cycle("loader1", "rank1")])
hang("worker-init", "barrier", "torch", role("loader0.0"), FUTEX + LOADER + "barrier|init|" + NEVER,
     "the only worker of rank 0's loader waits at a barrier for a second one",
     {"rank0": "~poll@_try_get_data|_get_data", "loader0.0": "futex@__call__", "rank1": "futex@backward"}, also=[ranks(0), NOBODY, cycle("loader0.0", "rank0")])
hang("writer-fork", "queue", "torch", role("loader0"), FUTEX + LOADER + "put|full|" + GONE + "|" + NEVER,
     "a forked worker puts into a queue whose thread is in its parent only",
     {"rank0": "~poll@_try_get_data|_get_data", "rank1": "futex@backward", "loader0": "futex@add_scalar"}, also=[ranks(0), NOBODY, cycle("loader0", "rank0")])
hang("dataset-http", "tcp recv", "torch numpy", role("server"), "recv|read|http|tcp|answer|server|" + LOADER,
     "a worker of rank 2's loader waits for the answer of a server that is no part of the job",
     {"rank0": "futex@backward", "rank1": "futex@backward", "rank2": "~poll", "loader2": "recv|read|poll>server@__getitem__"},
     also=[role("loader2"), ranks(2), outside(r"127\.0\.0\.1:\d+|localhost:\d+")])
hang("filelock", "flock", "torch filelock", ranks(0), GLOO + "lock|barrier|sleep|poll|" + CIRCLE,
     "rank 0 waits at a barrier with a lock of a file that the others want first",
     {"rank0": "futex@prepare", **all_of(3, "~nanosleep|select|futex|flock@acquire", 0)}, also=[everyone(3), cycle("rank0", "rank1"), cycle("rank0", "rank2")])
hang("queue-exit", "pipe full", "torch numpy", cycle("main", "scorer"), "pipe|full|write|queue|join|exit|wait4|its child|not read|" + CIRCLE,
     "a process cannot end before its queue is read, its parent waits for its end", {"main": "~wait4|poll|waitid@join", "scorer": "*write|futex"},
     also=[role("main"), role("scorer"), ranks(0)])
hang("loky-meet", "sleep loop", "joblib numpy", role("main"), POLL + "pool|worker|task|file|exist|futex|wait|" + CIRCLE + "|" + NEVER,
     "two of three jobs wait for the third, and there are two workers",
     {"main": "~futex|poll|select|nanosleep", "worker0": "~nanosleep|select@meet", "worker1": "~nanosleep|select@meet"},
     also=[role("worker0"), role("worker1"), cycle("worker0", "worker1"), cycle("main", "worker0", "worker1"), NOBODY])

# Ray
hang("ray-self", "ray", "ray", role("server"), RAY + "itself|own|get|futex|wait|" + CIRCLE, "an actor waits for an answer of itself",
     {"main": "~futex", "server": "~futex@push"}, also=[cycle("server", "server")])
hang("ray-cpus", "ray", "ray", role("main"), RAY + "CPU|get|futex|wait|idle|" + NEVER,
     "the driver waits for a task for which there is no processor, as two actors have them",
     {"main": "~futex@get", "rollout0": "~futex|epoll_wait", "rollout1": "~futex|epoll_wait"}, also=[NOBODY, outside(NOT_RUN), cycle("rollout0", "rollout1")])
hang("ray-nested", "ray", "ray", cycle("fold0", "fold1"), RAY + "slot|get|futex|wait|" + CIRCLE + "|" + NEVER,
     "two tasks have the two slots and wait for subtasks that want one each", {"main": "~futex", "fold0": "~futex@fold", "fold1": "~futex@fold"},
     also=[role("fold0"), role("fold1"), role("main"), ranks(0), NOBODY, outside(NOT_RUN)])
hang("ray-group", "ray", "ray", role("main"), RAY + "placement|group|bundle|CPU|get|futex|wait|" + NEVER,
     "the driver waits for a placement group of four processors where there are two", {"main": "~futex@reserve"},
     also=[NOBODY, outside(NOT_RUN + "|placement")])
hang("ray-queue", "ray", "ray", role("main"), RAY + "queue|full|put|get|futex|wait|" + CIRCLE,
     "the driver waits for the end of a reader that waits for room in a queue, which the driver would empty", {"main": "~futex", "reader": "~futex@put"},
     also=[role("reader"), cycle("main", "reader"), ranks(0)])
hang("ray-lock", "flock", "ray", cycle("logger", "server"), RAY + "flock|lock|get|futex|wait|" + CIRCLE,
     "the server has a lock and waits for the logger, which waits for the lock",
     {"main": "~futex", "logger": "flock>server@append", "server": "~futex@checkpoint"}, also=[role("server"), role("logger")])
hang("ray-file", "sleep loop", "ray", role("joiner"), POLL + RAY + "_SUCCESS|file|exist|" + NEVER, "a task looks for a file that nobody makes",
     {"main": "~futex", "joiner": "~nanosleep|select@join_parts"}, also=[NOBODY, outside(r"_SUCCESS|parts")])
hang("ray-get-actor", "sleep loop", "ray", role("trainer1"), POLL + RAY + "name|get_actor|" + NEVER, "a task looks for an actor by a name that none has",
     {"main": "~futex", "trainer1": "~nanosleep|select|futex@train"}, also=[NOBODY])
hang("ray-trainers", "gloo", "ray torch", role("trainer1"), GLOO + RAY + "idle|raised|error|exception|" + NEVER,
     "the second of two actors has raised and is idle, the first waits for its gradients and the driver for the first",
     {"main": "~futex", "trainer0": "*futex@backward", "trainer1": "~futex|epoll_wait"}, also=[ranks(1)])

# Healthy ones that are quiet for about 50 s
quiet("q-eval0", "gloo", "torch", 78, "rank 0 evaluates for 50 s", "the others are at a barrier")
quiet("q-save", "gloo", "torch", 78, "rank 0 writes to a slow store for 50 s", "the others wait for the name of the checkpoint")
quiet("q-download", "store", "torch", 70, "rank 0 downloads for 50 s", "rank 1 waits for a key of the store")
quiet("q-first-batch", "gloo", "torch", 78, "the first batch of rank 1's second epoch takes 50 s", "rank 0 is in backward, rank 1 waits for its loader")
quiet("q-compile", "gloo", "torch", 72, "a compiler of rank 1 is busy for 50 s", "the others are in an all-reduce")
quiet("q-cache-lock", "flock", "torch filelock numpy", 70, "rank 0 fills a cache for 50 s", "rank 1 waits for a lock of a file")
quiet("q-monitored", "gloo", "torch numpy", 75, "rank 2 sorts for 52 s", "a monitored barrier")
quiet("q-rpc", "rpc", "torch", 75, "an episode takes 50 s", "a rank waits for RPCs")
quiet("q-pipeline", "gloo", "torch", 85, "the first stage reads for 50 s", "two stages wait in recv")
quiet("q-schedule", "sleep", "torch", 120, "a round each 25 s", "ranks that sleep by a schedule")
quiet("q-join", "gloo", "torch", 75, "rank 1 has a step of 50 s", "uneven inputs under join()")
quiet("q-pool", "pool", "numpy", 66, "no requests come for 52 s", "a pool of processes that is idle")
quiet("q-loky", "pool", "joblib numpy", 66, "a fit takes 50 s", "a search by joblib")
quiet("q-ray-long", "ray", "ray", 72, "a simulation takes 50 s", "a task, an actor that waits for it")
quiet("q-ray-learner", "ray", "ray", 80, "two episodes take 52 s", "a learner waits for the first of its actors")
quiet("q-ray-queue", "ray", "ray", 115, "new files come each 50 s", "a consumer of a queue")

if __name__ == "__main__":
    BOOK.write("truth12.json")
