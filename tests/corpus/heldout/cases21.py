"""What is true of each program of programs21; `cases21.py` as a program writes truth21.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book

BOOK = Book("h21-", "programs21")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|mean|select|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
SPIN = "spin|busy|loop|cpu|processor|comput|running|works|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"

# Ranks
hang("filtered", "tcp recv", "h21_filtered.py", ranks(2), SUM + ELSEWHERE + "epoch|arrive|" + CIRCLE,
     "rank 2 has a batch less and is at the epoch's end, the others sum once more",
     {"rank0": "recv>rank2@total", "rank1": "recv>rank0@total", "rank2": "recv>store@epoch_end"},
     also=[cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank2")])
hang("early-stop", "unix recv", "h21_early_stop.py", ranks(1), SUM + ELSEWHERE + "finish|stop|" + CIRCLE,
     "rank 1 has stopped early by its own loss, the others are in the next step",
     {"rank0": "recv>rank1@train_step", "rank1": "recv>rank0@finish", "rank2": "recv>rank0@train_step"},
     also=[cycle("rank0", "rank1")])
hang("bucket", "tcp recv", "h21_bucket.py", ranks(1), SUM + ELSEWHERE + "bucket|backward|" + CIRCLE,
     "rank 1 has no gradient for a bucket and leaves it out, the others wait for it",
     {"rank0": "recv>rank1@backward", "rank1": "recv>rank0@backward", "rank2": "recv>rank0@backward"},
     also=[cycle("rank0", "rank1")])
hang("subgroup", "tcp recv", "h21_subgroup.py", ranks(3), SUM + ELSEWHERE + "group|arrive|" + CIRCLE,
     "rank 3 is no member of a new group and does not make the call that all have to make",
     {"rank0": "recv>store@new_group", "rank1": "recv>store@new_group", "rank2": "recv>store@new_group",
      "rank3": "recv>rank2@total"}, also=[cycle("rank2", "rank3")])
hang("metric-order", "unix recv", "h21_metric_order.py", ranks(1), SUM + ELSEWHERE + "order|metric|" + CIRCLE,
     "rank 1 sums its metrics in another order than the others",
     {"rank0": "recv>rank1@reduce_metrics", "rank1": "recv>rank0@reduce_metrics",
      "rank2": "recv>rank0@reduce_metrics"}, also=[cycle("rank0", "rank1")])
hang("lock-barrier", "file lock", "h21_lock_barrier.py", cycle("rank0", "rank1", "rank2"),
     SUM + "flock|lock|prepare|" + CIRCLE, "rank 0 waits in a barrier with a lock of a file that the others want first",
     {"rank0": "recv>rank1@prepare", "rank1": "flock>rank0@locked", "rank2": "flock>rank0@locked"},
     also=[cycle("rank0", "rank1"), ranks(0)])
hang("baton", "sleep loop", "h21_baton.py", ranks(0), LOOP + r"build|kernel|lock|fused_norm|" + NEVER,
     "rank 0 looks for the end of a build that was killed and left its file; the others wait for rank 0",
     {"rank0": "~nanosleep@wait_for_build", "rank1": "recv>rank0@mean", "rank2": "recv>rank0@mean"},
     also=[outside(r"fused_norm/lock")])
hang("empty-shard", "tcp recv", "h21_empty_shard.py", ranks(2), SUM + GONE,
     "rank 2 has no file and left with 0, the others are in a sum of three",
     {"rank0": "recv>store@total", "rank1": "recv>store@total", "rank2": "gone"}, gone=True)
hang("resample", "spin", "h21_resample.py", ranks(1), SPIN + "crop|sampl|random|overlap|" + ELSEWHERE + SUM,
     "rank 1 draws a crop for ever that its image does not have",
     {"rank0": "recv>rank1@mean", "rank1": "spin", "rank2": "recv>rank0@mean"})
hang("preempt", "futex", "h21_preempt.py", ranks(0), FUTEX + "signal|handler|save|itself|own|preempt|" + CIRCLE,
     "the handler of a signal wants a lock that the code has which it came upon",
     {"rank0": "futex@on_preempt", "rank1": "recv>rank0@mean"})
hang("undead", "futex", "h21_undead.py", ranks(1), FUTEX + "queue|put|exit|shutdown|end|error|KeyError|reader|" + NEVER,
     "rank 1's main thread has failed, its reading thread keeps the process; the others wait for it",
     {"rank0": "recv>rank1@mean", "rank1": "futex@_shutdown", "rank2": "recv>rank0@mean"}, loud=True)
hang("eval-join", "wait4", "h21_eval_join.py", cycle("rank0", "scorer"),
     "pipe|write|full|queue|child|join|wait|" + CIRCLE,
     "rank 0 waits for a child's end that waits for room in the pipe that rank 0 would read",
     {"rank0": "wait4|waitid>scorer@evaluate", "rank1": "recv>rank0@mean", "scorer": "*write>rank0"},
     also=[ranks(0), role("scorer")])
hang("finish", "pipe read", "h21_finish.py", role("keeper"), GONE + "|queue|pipe|read|answer|finish|kill|" + NEVER,
     "a process that keeps metrics was killed, rank 0 waits for its answer, rank 1 for rank 0",
     {"rank0": "read@finish", "rank1": "recv>rank0@mean", "keeper": "gone"}, also=[ranks(0)], gone=True)
hang("late-sub", "zmq", "h21_late_sub.py", ranks(1), SUM + ELSEWHERE + "zmq|subscri|settings|message|" + CIRCLE + "|" + NEVER,
     "rank 1 has subscribed when the settings were sent already, and waits for them",
     {"rank0": "recv>rank1@mean", "rank1": "poll@receive_settings"}, also=[cycle("rank0", "rank1")], needs=["zmq"])
hang("push-threads", "grpc", "h21_push_threads.py", role("server"),
     SUM + "grpc|thread|pool|sync|serv|cond|futex|" + CIRCLE,
     "a server's two threads wait for the third caller, whose call waits for a thread",
     {"rank0": "*~futex|poll|epoll@call", "rank1": "*~futex|poll|epoll@call",
      "rank2": "*~futex|poll|epoll@call", "server": "*futex@sync"},
     also=[cycle("server", "rank0", "rank1", "rank2"), cycle("server", "rank0"), cycle("server", "rank1"),
           cycle("server", "rank2")], needs=["grpc"])
hang("exchange", "mpi", "2 h21_exchange.py", cycle("rank0", "rank1"), SUM + SPIN + "mpi|send|exchange|" + CIRCLE,
     "both ranks send a large message before they receive", {"rank0": "spin", "rank1": "spin"},
     needs=["mpi4py", "mpiexec"])
hang("mpi-exception", "mpi", "3 h21_mpi_exception.py", ranks(2),
     SUM + SPIN + ELSEWHERE + "mpi|read|finali|KeyError|error|exit|end|" + NEVER,
     "rank 2 has failed by an error and is in MPI's end, the others in a sum",
     {"rank0": "spin", "rank1": "spin", "rank2": "read"}, needs=["mpi4py", "mpiexec"], loud=True)

# Processes, threads and tasks of one job
hang("pool-killed", "futex", "h21_pool_killed.py", role("main"),
     FUTEX + "pool|imap|queue|worker|result|" + GONE + "|" + NEVER,
     "a pool's worker was killed with a batch that main waits for", {"main": "futex@train", "lost": "gone"},
     also=[role("lost"), ranks(0)])
hang("task-done", "asyncio", "h21_task_done.py", role("main"), "queue|join|task|asyncio|loop|await|epoll|" + NEVER,
     "tasks have left out task_done at an error, main waits for the queue", {"main": "epoll"})
hang("permits", "futex", "h21_permits.py", role("main"), FUTEX + "permit|acquire|thread|future|result|" + NEVER,
     "threads that failed have kept their permits, nobody gets one", {"main": "futex@result"})
hang("actors", "pipe read", "h21_actors.py", cycle("learner", "buffer"), SUM + "actor|call|ask|read|pipe|" + CIRCLE,
     "two actors ask each other, each in a call of its own", {"main": "read>learner@drive",
     "learner": "read>buffer@train", "buffer": "read>learner@refresh"}, also=[role("learner"), role("buffer")])

# Scripts
hang("daemon-lock", "file lock", "h21_daemon_lock.sh", role("page"), "flock|lock|inherit|descriptor|background|output",
     "a server in the background has inherited the lock that the next stage wants",
     {"main": "wait4", "flock": "flock", "page": "~poll|select|accept"})
hang("health", "sleep loop", "h21_health.sh", role("main"), LOOP + "port|refus|connect|listen|server|" + NEVER,
     "a script asks a port at which nobody listens", {"main": "~wait4", "server": "~poll|select|accept"},
     also=[role("server"), outside(r"port \d+|127\.0\.0\.1:\d+")])
hang("captured", "pipe read", "h21_captured.sh", role("service"), "pipe|read|output|stdout|inherit|write|end|" + NEVER,
     "a service has the output of a command substitution open", {"main": "read>service", "service": "accept"})

# Other languages
hang("rwmutex", "go", "h21_rwmutex.go", role("main"), FUTEX + "RWMutex|RLock|goroutine|writer|reader|" + CIRCLE,
     "a reader takes a lock a second time, behind a writer who waits for the first time", {"main": "*futex"})
hang("bodies", "go", "h21_bodies.go", role("main"), FUTEX + "http|connection|goroutine|chan|select|body|pool|" + NEVER,
     "both connections are kept by answers whose bodies were not closed", {"main": "*futex", "server": "*epoll|futex"})
hang("sender-kept", "rust", "h21_sender_kept.rs", role("main"), FUTEX + "channel|recv|sender|park|" + NEVER,
     "main waits for the end of a channel of which it keeps a sender itself", {"main": "futex"})
hang("no-shutdown", "java", "h21_no_shutdown.java", role("main"), FUTEX + "park|pool|executor|take|queue|" + NEVER,
     "main has ended, threads of an executor keep the process", {"main": "*futex"}, needs=["java"])
hang("stderr", "pipe write", "h21_stderr.js {python}", role("main"), "pipe|write|full|stderr|read|socket|drain|" + CIRCLE,
     "a trainer's errors go into a pipe that its parent does not read",
     {"main": "epoll", "trainer": "write|sendto>main"}, also=[cycle("main", "trainer"), role("trainer")])
hang("late-exit", "node", "h21_late_exit.js", role("main"), "exit|event|loop|epoll|tokenizer|child|listen|" + GONE + "|" + NEVER,
     "main listens for the end of a child that has ended before", {"main": "epoll", "tokenizer": "gone"},
     also=[role("tokenizer")])
hang("stop", "cond wait", "h21_stop.cpp", role("main"), FUTEX + "queue|full|fill|stop|notif|" + CIRCLE + "|" + NEVER,
     "main joins a thread that waits for a place in a queue from which nobody takes", {"main": "*futex"})
hang("pool-fork", "cond wait", "h21_pool_fork.cpp", role("loader"), FUTEX + "fork|pool|thread|pipe|read|loader|" + NEVER,
     "a forked loader waits for threads that are not there after a fork", {"main": "read>loader", "loader": "futex"})
hang("own-end", "pipe read", "h21_own_end.c", role("main"), "pipe|read|itself|own|end|write|" + GONE + "|" + NEVER,
     "main reads a pipe whose only writer is itself", {"main": "read", "feeder": "gone"}, also=[role("feeder")])

# Healthy ones
quiet("q-filtered", "tcp recv", "h21_filtered.py slow", 62, "rank 2 reads for 48 s", "the others wait in a ring")
quiet("q-early-stop", "unix recv", "h21_early_stop.py slow", 62, "rank 1 validates for 48 s", "the others wait in a sum")
quiet("q-subgroup", "tcp recv", "h21_subgroup.py slow", 62, "rank 3 comes 48 s late", "the others make a group")
quiet("q-lock-barrier", "file lock", "h21_lock_barrier.py slow", 62, "rank 0 tokenizes for 48 s", "the others want its lock")
quiet("q-baton", "sleep loop", "h21_baton.py slow", 64, "another process builds until 58 s", "rank 0 looks for its file")
quiet("q-resample", "spin", "h21_resample.py slow", 62, "a crop is found after 48 s", "the others wait in a sum")
quiet("q-finish", "pipe read", "h21_finish.py slow", 60, "a keeper writes for 48 s", "rank 0 waits for its answer")
quiet("q-actors", "pipe read", "h21_actors.py slow", 70, "a refresh takes 48 s", "main waits for an actor")
quiet("q-push-threads", "grpc", "h21_push_threads.py slow", 62, "rank 2 comes 48 s late", "the others wait by gRPC",
      needs=["grpc"])
quiet("q-exchange", "mpi", "2 h21_exchange.py slow", 62, "rank 1 computes for 48 s", "rank 0 waits in MPI",
      needs=["mpi4py", "mpiexec"])
quiet("q-health", "sleep loop", "h21_health.sh slow", 62, "a server loads for 48 s", "main asks its port")
quiet("q-eval-join", "pipe read", "h21_eval_join.py slow", 62, "scoring takes 48 s", "rank 0 waits for the scores")
quiet("q-late-sub", "zmq", "h21_late_sub.py slow", 66, "rank 1 cleans up for 48 s", "rank 0 waits for it", needs=["zmq"])
quiet("q-permits", "futex", "h21_permits.py slow", 66, "a shard comes after 48 s", "main waits for its thread")
quiet("q-sender-kept", "rust", "h21_sender_kept.rs slow", 56, "a batch takes 48 s", "main waits for a channel")
quiet("q-own-end", "pipe read", "h21_own_end.c slow", 60, "a record comes after 48 s", "main reads a pipe")

if __name__ == "__main__":
    BOOK.write("truth21.json")
