"""What is true of each program of programs14; `cases14.py` as a program writes truth14.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h14-", "programs14")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
NOBODY = {"nobody": NEVER}
STORE = "recv|tcp|socket|store|key|peer|answer|collective|barrier|gradient|sum|reduc|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"
CHILD = "wait4|child|pipe|output|inherit|background|"

# Ranks that do not do the same
hang("early-eval", "store", "h14_early_eval.py", ranks(0), STORE + ELSEWHERE + "eval|" + CIRCLE,
     "rank 0 alone evaluates and adds up with all, who are in the next step",
     {"rank0": "recv>store@evaluate", "rank1": "recv>store@all_reduce", "rank2": "recv>store@all_reduce"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank2"), ranks(1, 2)])
hang("early-stop", "tcp recv", "h14_early_stop.py", ranks(1), STORE + LOOP + ELSEWHERE + "done|" + CIRCLE,
     "rank 1 has stopped early and looks for the others' files, who are in a ring's next sum",
     {**all_of(4, "recv@reduce", 1), "rank1": "~nanosleep@finish"},
     also=[cycle("rank0", "rank1", "rank2", "rank3"), outside(r"done\.[023]")])
hang("short-shard", "semaphore", "h14_short_shard.py", ranks(2), FUTEX + "barrier|" + ELSEWHERE + GONE,
     "rank 2 has fewer batches and has left, the others wait at the Barrier",
     {"launcher": "wait4", "rank0": "futex@wait", "rank1": "futex@wait", "rank2": "gone"}, gone=True, also=[NOBODY])
hang("if-barrier", "pipe", "h14_if_barrier.c", ranks(0), "read|pipe|barrier|" + ELSEWHERE + CIRCLE,
     "rank 0 alone is at a barrier after it has saved, the others in the next step's sum",
     {"launcher": "wait4", **all_of(3, "read")},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("attempt", "store", "h14_attempt.py", ranks(3), STORE + ELSEWHERE + "attempt|" + NEVER + "|" + CIRCLE,
     "rank 3 counts its attempt otherwise, and enters a barrier of another name",
     {**all_of(4, "recv>store@enter")}, also=[cycle("rank0", "rank1", "rank2", "rank3"), cycle("rank0", "rank3")])
hang("local-rank", "sleep loop", "h14_local_rank.py", outside(r"imagenet\.ready"), LOOP + NEVER,
     "no rank is the first of its node, and all look for the file that this one writes",
     {"launcher": "wait4", **all_of(3, "~nanosleep@train")}, also=[NOBODY, ranks(0, 1, 2)])
hang("ring-large", "tcp send", "h14_ring_large.py", cycle("rank0", "rank1", "rank2"),
     "send|full|buffer|tcp|socket|not read|nobody reads|" + CIRCLE,
     "each of a ring sends more than the kernel keeps before it reads",
     {"rank0": "sendto>rank1@all_gather", "rank1": "sendto>rank2@all_gather", "rank2": "sendto>rank0@all_gather"},
     proved=True, also=[ranks(0, 1, 2)])
hang("preempt", "store", "h14_preempt.py", ranks(1), STORE + ELSEWHERE + "signal|save|" + CIRCLE,
     "rank 1 alone was told by a signal to save, and is at a barrier; the others are in the next sum",
     {**all_of(4, "recv>store@body", 1), "rank1": "recv>store@save"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2", "rank3"), ranks(0, 2, 3)])
hang("wrong-master", "tcp accept", "h14_wrong_master.py", ranks(2),
     STORE + "accept|connect|join|backlog|" + ELSEWHERE + NEVER,
     "rank 2 has connected to another job's master, which takes nobody any more; rank 0 waits for rank 2",
     {"rank0": "accept@meet", "rank1": "recv>rank0@meet", "rank2": "recv@meet", "rank3": "recv>rank0@meet",
      "other": "nanosleep|select"},
     also=[role("other"), outside(r"127\.0\.0\.1:\d+|localhost:\d+"), NOBODY])
hang("empty-batch", "unix dgram", "3* h14_empty_batch.rs", ranks(2),
     "recv|datagram|unix|socket|message|" + ELSEWHERE + GONE + "|" + NEVER,
     "rank 2 has sent nothing for an empty batch and has left, rank 0 waits for one more of it, rank 1 for rank 0",
     {"rank0": "recv", "rank1": "recv", "rank2": "gone"}, gone=True, also=[NOBODY, ranks(0)])
hang("evaluator", "http", "4* h14_evaluator.go", ranks(3),
     FUTEX + STORE + "http|push|weights|epoll|" + ELSEWHERE + NEVER + "|" + CIRCLE,
     "rank 3 counts as a trainer but only waits for weights, rank 0 waits for its push, the others for rank 0",
     {**all_of(4, "*epoll|futex")}, also=[cycle("rank0", "rank3"), cycle("rank0", "rank1", "rank2", "rank3"), ranks(0)])
hang("mpi-tags", "mpi", "2 h14_mpi_tags.py", cycle("rank0", "rank1"), "mpi|recv|send|tag|match|spin|" + CIRCLE,
     "rank 0 sends by another tag than rank 1 wants", {"rank0": "spin", "rank1": "spin"},
     also=[ranks(0), ranks(1), ranks(0, 1)], needs=["mpi4py", "mpiexec"])

# Loaders, pools, queues, threads
hang("queue-join", "pipe full", "h14_queue_join.py", cycle("main", "scorer0"),
     FUTEX + CHILD + "queue|full|write|not read|nobody reads|" + CIRCLE,
     "main joins a process before it reads the queue into whose pipe that writes",
     {"main": "wait4>scorer0", "scorer0": "*write>main"},
     also=[role("main"), ranks(0), role("scorer0"), cycle("main", "scorer1")])
hang("bad-image", "queue", "h14_bad_image.py", ranks(1),
     FUTEX + STORE + "queue|exception|error|prefetch|truncated|" + GONE + "|" + NEVER,
     "rank 1's thread that reads ahead has ended by an error, and its queue stays empty",
     {"rank0": "recv>store@all_reduce", "rank1": "futex@next"}, loud=True, also=[NOBODY])
hang("last-batch", "semaphore", "h14_last_batch.py", cycle("main", "loader"),
     FUTEX + CHILD + "full|queue|place|" + CIRCLE,
     "main joins a loader that waits for a place, which main would free",
     {"main": "wait4>loader", "loader": "futex@load"}, also=[role("main"), ranks(0), role("loader"), NOBODY])
hang("private-cond", "futex", "h14_private_cond.c", cycle("main", "decoder"),
     FUTEX + "full|empty|wake|" + NEVER + "|" + CIRCLE,
     "main waits for a batch and its decoder for a place, by conditions that do not wake another process",
     {"main": "futex", "decoder": "futex"}, also=[role("main"), role("decoder"), ranks(0), NOBODY])
hang("two-locks", "futex", "h14_two_locks.cpp", role("main"), FUTEX + CIRCLE,
     "two threads take two locks in different orders", {"main": "futex"}, proved=True, also=[cycle("main", "main")])
hang("task-done", "epoll", "h14_task_done.py", role("main"), "epoll|asyncio|task|queue|join|idle|event|" + NEVER,
     "a queue of asyncio waits for a prompt of which nobody tells that it is done", {"main": "epoll"}, also=[NOBODY])
hang("permits", "semaphore", "h14_permits.py", role("main"), FUTEX + "future|pool|place|" + NEVER,
     "threads have left with a semaphore's places, main waits for a result", {"main": "futex@main"}, also=[NOBODY])
hang("slots", "epoll", "h14_slots.js", role("main"), "epoll|node|event|promise|idle|slot|listen|" + NEVER,
     "requests that were refused have kept all the slots", {"main": "epoll"}, also=[NOBODY])
hang("results", "go", "h14_results.go", role("main"),
     FUTEX + "goroutine|group|chan|idle|epoll|full|" + NEVER + "|" + CIRCLE,
     "goroutines send errors into a full channel that main reads after them", {"main": "*epoll|futex"},
     also=[NOBODY, cycle("main", "main")])
hang("guard", "futex", "h14_guard.rs", role("main"), FUTEX + "itself|own|" + CIRCLE,
     "main locks what it has locked", {"main": "futex"}, proved=True, also=[cycle("main", "main"), cycle("main")])
hang("no-shutdown", "java", "h14_no_shutdown.java", role("main"),
     FUTEX + "java|pool|park|idle|non.?daemon|queue|" + NEVER,
     "main has come to its end, a pool's threads keep the process", {"main": "futex"}, also=[NOBODY], needs=["java"])
hang("heartbeat", "thread", "h14_heartbeat.py", ranks(1),
     FUTEX + "sleep|heartbeat|join|shut|exit|wait4|child|daemon|" + GONE,
     "rank 1 has come to its end, but a thread of it does not end; the others have left",
     {"launcher": "wait4>rank1", "rank0": "gone", "rank1": "*~nanosleep|select@beat", "rank2": "gone"}, also=[NOBODY])
hang("manager-lock", "unix recv", "h14_manager_lock.py", role("worker2"),
     FUTEX + "recv|read|unix|socket|manager|" + GONE + "|" + NEVER,
     "worker 2 has left with the lock of a manager, for which the others wait",
     {"main": "wait4>worker0", "manager": "*futex", "worker0": "read|recv@write", "worker1": "read|recv@write",
      "worker2": "gone"}, gone=True, also=[role("manager"), NOBODY])

# Services and scripts
hang("tail", "wait4", "h14_tail.sh", role("tail"), CHILD + "wait|tail|inotify|poll|read",
     "the script waits for a tail -f that it has started itself", {"main": "wait4>tail", "tail": "~."},
     also=[role("main"), ranks(0)])
hang("subst", "pipe", "h14_subst.sh", role("service"), CHILD + "read|accept|idle|serv|held|holds|open",
     "a service in the background keeps the pipe open that the script reads to the end",
     {"main": "read>service", "starter": "gone", "service": "accept"}, also=[role("main"), ranks(0)])
hang("pubsub", "zmq", "h14_pubsub.py", cycle("rank0", "rank2"),
     "zmq|zeromq|poll|recv|subscri|weights|episode|" + NEVER + "|" + CIRCLE,
     "rank 2 has subscribed anew after the weights were sent, rank 0 waits for its episode",
     {"rank0": "poll@learner", "rank1": "poll@actor", "rank2": "poll@actor"},
     also=[ranks(0), ranks(2), NOBODY, cycle("rank0", "rank1", "rank2")], needs=["zmq"])
hang("grpc-port", "grpc", "h14_grpc_port.py", outside(r"127\.0\.0\.1:\d+|localhost:\d+"),
     FUTEX + "grpc|connect|refus|channel|port|listen|retr|" + NEVER,
     "main waits for a channel to a port on which nobody listens", {"main": "~epoll|futex@push"},
     also=[NOBODY, role("main"), ranks(0)], needs=["grpc"])
hang("keep-alive", "tcp recv", "h14_keep_alive.py", cycle("rank0", "service", "rank1"),
     STORE + "http|keep.?alive|single|thread|serv|accept|backlog|" + CIRCLE,
     "the service's one thread waits for rank 0's next request, rank 0 for rank 1, rank 1 for the service",
     {"rank0": "recv>store@all_reduce", "rank1": "recv@samples", "service": "recv>rank0@serve"},
     also=[role("service"), ranks(1), ranks(0), cycle("rank0", "rank1"), cycle("rank0", "service"),
           cycle("rank1", "service")])

# Healthy ones
quiet("q-eval", "store", "h14_early_eval.py slow", 62, "rank 0 evaluates for 45 s", "two ranks wait for the first")
quiet("q-compile", "store", "h14_q_compile.py", 62, "a tool compiles for 50 s", "ranks wait at a barrier")
quiet("q-save", "store", "h14_q_save.py", 60, "rank 1 writes for 45 s", "ranks wait for one that saves")
quiet("q-download", "flock", "h14_q_download.py", 63, "a download takes 50 s", "ranks wait for a lock of a file")
quiet("q-timed-get", "queue", "h14_q_timed_get.py", 60, "a wait of 45 s has an end", "a trainer gives a loader up")
quiet("q-late-rank", "tcp accept", "h14_q_late_rank.py", 62, "rank 3 reads for 50 s", "rank 0 accepts late ranks")
quiet("q-idle-server", "poll", "h14_q_idle_server.py", 73, "nobody asks for 60 s", "a server that is idle")
quiet("q-notebook", "pipe", "h14_q_notebook.py", 62, "nobody runs a cell for 55 s", "a kernel that is idle")
quiet("q-pool-idle", "pool", "h14_q_pool_idle.py", 67, "main works for 50 s", "a pool that is idle")
quiet("q-until", "sleep loop", "h14_q_until.sh", 59, "a server starts for 50 s", "a script that asks for a server",
      needs=["curl"])
quiet("q-backoff", "go", "h14_q_backoff.go", 54, "a worker waits longer each time, 45 s in all", "a retry")
quiet("q-actor", "queue", "h14_q_actor.py", 60, "an episode takes 50 s", "a learner waits for actors")
quiet("q-race", "epoll", "h14_q_race.js", 57, "a wait of 45 s has an end", "an answer that does not come")
quiet("q-merge", "pipe", "h14_q_merge.c", 59, "a child works for 50 s", "a program waits for its child")

if __name__ == "__main__":
    BOOK.write("truth14.json")
