"""What is true of each program of programs27; `cases27.py` as a program writes truth27.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, ranks, role
from kitcases import Book

BOOK = Book("h27-", "programs27")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|read|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|gather|select|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
SPIN = "spin|busy|loop|cpu|processor|comput|running|works|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"
SLEEP = "~nanosleep|select|poll"

# Sockets, pipes and FIFOs
hang("ack", "tcp recv", "h27_ack.py", cycle("rank0", "rank2"), SUM + CIRCLE + "|" + NEVER,
     "rank 2 has dropped a short batch without its ok, and waits for the next one",
     {"rank0": "recv>rank2@deal", "rank1": "recv>rank0@work", "rank2": "recv>rank0@work"}, also=[ranks(2), ranks(0)])
hang("warnings", "pipe", "h27_warnings.py", ranks(1), SUM + "pipe|full|write|stderr|" + CIRCLE,
     "rank 1's pipe of errors is full, its reader, the launcher, waits for rank 0's end",
     {"launcher": "wait4>rank0", "rank0": "recv>rank1@train", "rank1": "write>launcher@train"},
     also=[role("launcher"), role("launcher", 1), cycle("rank0", "rank1"), cycle("rank0", "rank1", "launcher")])
hang("keep-open", "fifo", "h27_keep_open.sh", role("main"), SUM + "pipe|fifo|end of file|EOF|itself|own|writer|" + NEVER,
     "a script reads to the end of a FIFO that it keeps open for writing itself",
     {"main": "read", "tokenizer-a": "gone", "tokenizer-b": "gone"})
hang("copies", "pipe", "h27_copies.py", ranks(0), SUM + "pipe|end of file|EOF|copy|inherit|held|hold|" + CIRCLE + "|" + NEVER,
     "rank 0 reads to the end of a pipe whose other ends ranks 1 and 2, which wait for it, have inherited",
     {"launcher": "wait4", "rank0": "read@train", "rank2": "recv>rank0@barrier"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2"), ranks(1), ranks(2), role("rank1"), role("rank2")])
hang("oneshot", "tcp recv", "h27_oneshot.py", role("aggregator"), SUM + "epoll|aggregat|server|not read|unread|" + CIRCLE,
     "an aggregator does not look at rank 2's connection any more, on which the rest of a gradient lies",
     {"aggregator": "epoll@aggregate", "rank0": "recv>aggregator@train", "rank2": "recv>aggregator@train"},
     also=[role("aggregator", 2), ranks(2), cycle("rank2", "aggregator"), cycle("rank0", "rank1", "rank2", "aggregator")])
hang("credit", "tcp recv", "h27_credit.py mute", cycle("rank0", "rank1"), SUM + CIRCLE,
     "rank 1 waits for credit, rank 0 for the rest of a batch", {"rank0": "recv>rank1@learn", "rank1": "recv>rank0@generate"},
     also=[ranks(0), ranks(1)])
hang("child-out", "pipe", "h27_child_out.py", cycle("main", "evaluation"), SUM + "pipe|full|write|child|" + CIRCLE,
     "an evaluation writes more than a pipe holds, main waits for its end",
     {"main": "epoll", "evaluation": "write>main@evaluate"}, also=[role("main"), role("evaluation"), role("evaluation", 0), ranks(0)])
hang("paused", "pipe", "h27_paused.js", cycle("main", "model"), SUM + "pipe|full|write|epoll|drain|" + CIRCLE,
     "a model writes answers into a stream that its driver has paused, the driver waits for room",
     {"main": "epoll", "model": "write>main"}, also=[role("main"), role("model"), role("model", 0), ranks(0)])

# ZeroMQ, gRPC, MPI, gloo
hang("subscribe", "zmq", "h27_subscribe.py", cycle("rank0", "rank1"), SUM + "zmq|zeromq|publish|subscri|" + CIRCLE + "|" + NEVER,
     "rank 1 has missed a round's weights, rank 0 waits for its gradient",
     {"rank0": "poll@learn", "rank1": "poll@play", "rank2": "poll@play"}, also=[ranks(1), ranks(0), cycle("rank0", "rank1", "rank2")],
     needs=["zmq"])
hang("identity", "zmq", "h27_identity.py", cycle("main", "worker1"), SUM + LOOP + "zmq|zeromq|" + CIRCLE + "|" + NEVER,
     "prompts for a worker's former name are dropped, it waits for work and main for its answer",
     {"main": "poll@schedule", "worker1": "~poll@work", "worker0": "~poll@work"},
     also=[role("worker1"), role("worker1", 0), role("main"), ranks(0), cycle("main", "worker0", "worker1")], needs=["zmq"])
hang("grpc-barrier", "grpc", "h27_grpc_barrier.py", role("coordinator"), SUM + FUTEX + "grpc|coordinator|barrier|pool|" + NEVER,
     "a coordinator's two threads wait in a barrier for the third call, which waits for a thread",
     {"rank0": "*~futex@train", "rank1": "*~futex@train", "rank2": "*~futex@train", "coordinator": "*~futex@arrive"},
     also=[role("coordinator", r) for r in range(3)] + [cycle("rank0", "rank1", "rank2", "coordinator")], needs=["grpc"])
hang("regroup", "mpi", "4 h27_regroup.py", ranks(3), SUM + SPIN + ELSEWHERE + "mpi|finali|split|" + CIRCLE,
     "rank 3 has left its loop and is in Finalize, the others in Split",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin", "rank3": "spin"}, also=[cycle("rank0", "rank1", "rank2", "rank3")],
     needs=["mpi4py", "mpiexec"])
hang("halo", "mpi", "h27_halo.sh", ranks(0), SUM + SPIN + ELSEWHERE + "mpi|message|" + CIRCLE + "|" + NEVER,
     "rank 0 waits for a border of rank 1, which sends none to it; the others wait along the line",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin"},
     also=[cycle("rank0", "rank1"), ranks(1), cycle("rank0", "rank1", "rank2")], needs=["mpicc", "mpiexec"])
hang("stages", "gloo", "h27_stages.py mute", ranks(1), SUM + ELSEWHERE + FUTEX + "gloo|torch|send|micro|" + CIRCLE,
     "stage 1 waits for an eighth micro-batch, stage 0 is in an all-reduce", {"rank0": "*futex@all_reduce", "rank1": "*futex@recv"},
     also=[ranks(0), cycle("rank0", "rank1")], needs=["torch"])
hang("sources", "gloo", "h27_sources.py", ranks(2), SUM + ELSEWHERE + FUTEX + "gloo|torch|scatter|source|" + CIRCLE,
     "rank 2 scatters from itself, the others from rank 0", {"rank0": "*futex", "rank1": "*futex", "rank2": "*futex@scatter_object_list"},
     also=[cycle("rank0", "rank2"), cycle("rank1", "rank2"), cycle("rank0", "rank1", "rank2")], needs=["torch"])

# Processes and what they share
hang("max-steps", "queue", "h27_max_steps.py", cycle("main", "loader"), SUM + FUTEX + "pipe|full|queue|put|write|" + CIRCLE,
     "main joins a loader that still puts batches into a full queue",
     {"main": "wait4|poll>loader", "loader": "*futex|write"}, also=[role("main"), role("loader"), role("loader", 0), ranks(0)])
hang("callback", "futex", "h27_callback.py mute", role("main"), FUTEX + "pool|result|callback|handler|" + NEVER,
     "a callback's error has ended the pool's thread of results, main waits for one", {"main": "futex@get"})
hang("parties", "manager", "h27_parties.py mute", role("evaluator"), SUM + FUTEX + GONE + "|manager|barrier|" + NEVER,
     "a manager's barrier counts an evaluator that has ended",
     {"rank0": "read>manager@wait", "rank1": "read>manager@wait", "rank2": "read>manager@wait", "manager": "*~futex", "evaluator": "gone"},
     also=[role("manager"), role("manager", 0), role("launcher")])
hang("exact", "sleep loop", "h27_exact.py mute", ranks(1), LOOP + "shared|memory|shm|" + CIRCLE + "|" + NEVER,
     "rank 1 looks for a number in shared memory that has passed, rank 0 for rank 1's",
     {"rank0": "~nanosleep|select@train", "rank1": "~nanosleep|select@train"}, also=[ranks(0), cycle("rank0", "rank1")])
hang("two-files", "flock", "h27_two_files.py mute", cycle("rank0", "rank1"), "flock|lock|file|" + CIRCLE,
     "two ranks take two files' locks in opposite order", {"rank0": "flock>rank1@train", "rank1": "flock>rank0@train"})
hang("wal", "sleep loop", "h27_wal.py mute", cycle("rank0", "rank1"), LOOP + SUM + "sqlite|database|lock|checkpoint|" + CIRCLE,
     "rank 0 trims a database until that is not busy, rank 1 holds a snapshot of it and waits for rank 0",
     {"rank0": SLEEP + "@trim", "rank1": "recv>rank0@train"}, also=[ranks(0), ranks(1)])
hang("expired", "sleep loop", "h27_expired.sh", cycle("rank0", "rank1", "rank2"), LOOP + SUM + "redis|count|child|key|" + CIRCLE + "|" + NEVER,
     "a counter by which three meet has expired before the third came",
     {"rank0": "~wait4|read", "rank1": "~wait4|read", "rank2": "~wait4|read", "redis": "~epoll"},
     also=[ranks(0), ranks(1), ranks(2), ranks(0, 1), role("redis")], needs=["redis-server", "redis-cli"])
hang("stale-pid", "sleep loop", "h27_stale_pid.py", ranks(1), LOOP + "pid|download|process|" + NEVER,
     "rank 1 waits for the end of a download, whose number a daemon has now",
     {"rank0": "recv>rank1@train", "rank1": SLEEP + "@train", "daemon": SLEEP}, also=[role("daemon"), role("daemon", 1)])
hang("done-files", "sleep loop", "h27_done_files.sh", role("main"), LOOP + GONE + "|child|encoder|" + NEVER,
     "a script looks for three files, of which a failed encoder has not written one",
     {"main": "~wait4", "encoder0": "gone", "encoder1": "gone", "encoder2": "gone"}, also=[role("encoder2"), role("encoder2", 0), ranks(0)])
hang("slot", "futex", "h27_slot.c", ranks(0, 2), FUTEX + "slot|post|held|" + CIRCLE + "|" + NEVER,
     "ranks 0 and 2 have not given their slots back, all wait for one",
     {"launcher": "wait4", "rank0": "futex", "rank1": "futex", "rank2": "futex"},
     also=[cycle("rank0", "rank1", "rank2"), ranks(0), ranks(2), *[role("rank%d" % r) for r in range(3)], role("launcher")])
hang("order", "sysv sem", "h27_order.c", cycle("main", "dealer"), "sem|lock|order|held|" + CIRCLE,
     "two processes take two semaphores in opposite order", {"main": "semop|semtimedop", "dealer": "semop|semtimedop"},
     also=[role("main"), role("dealer"), role("dealer", 0), ranks(0)])

# Threads, tasks, goroutines
hang("nested", "futex", "h27_nested.py", role("main"), FUTEX + "pool|executor|result|itself|own|" + NEVER,
     "four tasks wait for tasks of the same pool, whose four threads they have", {"main": "futex@result"})
hang("task-done", "poll", "h27_task_done.py", role("main"), LOOP + "epoll|queue|task|event loop|idle|" + NEVER,
     "an error's sample was not told as done, main waits in join() of a queue", {"main": "epoll"})
hang("own-loop", "futex", "h27_own_loop.py", role("main"), FUTEX + "loop|itself|own|result|" + NEVER,
     "the loop's own thread waits for a coroutine of that loop", {"main": "futex@on_evaluation"})
hang("late-clear", "futex", "h27_late_clear.py mute", role("main"), FUTEX + "event|ready|" + CIRCLE + "|" + NEVER,
     "main has cleared an event that was set already, and waits for it", {"main": "futex@wait"})
hang("one-cond", "futex", "h27_one_cond.c", role("main"), FUTEX + CIRCLE + "|" + NEVER,
     "a decoder waits for room and a trainer for a batch, nobody has told of the room", {"main": "futex"})
hang("first-error", "go", "h27_first_error.go", role("main"), FUTEX + "chan|send|goroutine|WaitGroup|semacquire|" + NEVER,
     "goroutines send to a channel whose reader has returned", {"main": "*~futex|epoll"})
hang("read-twice", "go", "h27_read_twice.go", role("main"), FUTEX + "RWMutex|RLock|goroutine|" + CIRCLE + "|" + NEVER,
     "a goroutine takes a lock for reading twice, a writer has come in between", {"main": "*~futex|epoll"})
hang("join", "futex", "h27_join.rs", role("main"), FUTEX + "send|channel|" + CIRCLE + "|" + NEVER,
     "main joins a thread that sends to a channel whose receiver main holds", {"main": "futex"})

# Healthy ones
quiet("q-ack", "tcp recv", "h27_ack.py slow", 92, "rank 2 saves samples for 64 s", "rank 0 waits for its ok")
quiet("q-warnings", "sleep loop", "h27_warnings.py slow", 96, "a mirror is synchronised for 66 s", "rank 1 looks for its file")
quiet("q-keep-open", "fifo", "h27_keep_open.sh slow", 90, "a tokenizer takes 66 s", "a script reads from a FIFO")
quiet("q-copies", "pipe", "h27_copies.py slow", 92, "the launcher writes a list's end after 67 s", "rank 0 reads, the others wait for it")
quiet("q-oneshot", "tcp recv", "h27_oneshot.py slow", 95, "an aggregator writes a snapshot for 65 s", "the ranks wait for its sum")
quiet("q-credit", "tcp recv", "h27_credit.py slow mute", 92, "the learner updates for 64 s", "the generator waits for credit")
quiet("q-child-out", "pipe", "h27_child_out.py slow", 102, "an evaluation takes 67 s", "main waits for its end")
quiet("q-subscribe", "zmq", "h27_subscribe.py slow", 98, "a game takes 68 s", "the others wait", needs=["zmq"])
quiet("q-grpc-barrier", "grpc", "h27_grpc_barrier.py slow", 96, "rank 2 evaluates for 66 s", "the others wait in a call", needs=["grpc"])
quiet("q-regroup", "mpi", "4 h27_regroup.py slow", 94, "rank 3 checks its shard for 64 s", "the others wait in Split", needs=["mpi4py", "mpiexec"])
quiet("q-halo", "mpi", "h27_halo.sh slow", 94, "rank 2 writes its part for 66 s", "the others wait for it", needs=["mpicc", "mpiexec"])
quiet("q-stages", "gloo", "h27_stages.py slow mute", 150, "stage 0 reads for 66 s", "stage 1 waits for it", needs=["torch"])
quiet("q-max-steps", "queue", "h27_max_steps.py slow", 84, "a loader packs its cache for 62 s", "main joins it")
quiet("q-callback", "futex", "h27_callback.py slow", 96, "a shard takes 66 s", "main waits for it")
quiet("q-parties", "manager", "h27_parties.py slow mute", 92, "an evaluator evaluates for 64 s", "the ranks wait at a barrier")
quiet("q-two-files", "flock", "h27_two_files.py slow", 132, "rank 0 sorts its index for 66 s", "rank 1 waits for a lock")
quiet("q-wal", "sleep loop", "h27_wal.py slow mute", 92, "rank 1 reads a snapshot for 65 s", "rank 0 tries again until it may trim")
quiet("q-expired", "sleep loop", "h27_expired.sh slow", 97, "worker 2 comes after 68 s", "the others look for a counter",
      needs=["redis-server", "redis-cli"])
quiet("q-stale-pid", "sleep loop", "h27_stale_pid.py slow", 96, "a download runs for 68 s", "rank 1 looks for its end")
quiet("q-done-files", "sleep loop", "h27_done_files.sh slow", 92, "an encoder takes 66 s longer", "a script looks for its file")
quiet("q-slot", "futex", "h27_slot.c slow", 92, "ranks 1 and 2 compile for 66 s", "rank 0 waits for a slot")
quiet("q-late-clear", "futex", "h27_late_clear.py slow mute", 92, "a batch comes after 68 s", "main waits for it")
quiet("q-one-cond", "futex", "h27_one_cond.c slow", 93, "a batch is decoded for 68 s", "main waits for it")
quiet("q-first-error", "go", "h27_first_error.go slow", 89, "a shard takes 65 s", "main waits for it")
quiet("q-join", "futex", "h27_join.rs slow", 84, "an index is written for 64 s", "main joins its thread")
quiet("q-limit", "tcp select", "h27_q_limit.py", 90, "a time limit of 66 s strikes", "two ranks wait for one that does not come")
quiet("q-late", "accept", "h27_q_late.py", 88, "rank 2 is started after 70 s", "the others wait for it")
quiet("q-archive", "tcp send", "h27_q_archive.py", 95, "a store takes a checkpoint slowly, for 72 s", "rank 0 sends, rank 1 waits in a sum")
quiet("q-backoff", "sleep", "h27_q_backoff.py", 88, "a hub tells to come later", "main sleeps between its tries")

if __name__ == "__main__":
    BOOK.write("truth27.json")
