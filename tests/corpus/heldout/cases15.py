"""What is true of each program of programs15; `cases15.py` as a program writes truth15.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h15-", "programs15")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
NOBODY = {"nobody": NEVER}
STORE = "recv|tcp|socket|store|key|peer|answer|collective|barrier|gradient|sum|reduc|http|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"
PIPE = "read|pipe|recv|"

# Ranks that do not do the same
hang("oom-retry", "store", "h15_oom_retry.py", ranks(1), STORE + ELSEWHERE + "memory|skip|" + CIRCLE,
     "rank 1 has left out a step that did not fit, and is in the next one's sum",
     {**all_of(3, "recv>store@all_reduce")},
     also=[cycle("rank0", "rank1"), cycle("rank1", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("best-ckpt", "http", "h15_best_ckpt.py", ranks(2), STORE + ELSEWHERE + "save|best|" + CIRCLE,
     "rank 2 alone has a new best loss and is at a barrier, the others are in the next sum",
     {**all_of(3, "recv>keys@mean", 2), "rank2": "recv>keys@save_best"},
     also=[cycle("rank0", "rank2"), cycle("rank1", "rank2"), cycle("rank0", "rank1", "rank2"), ranks(0, 1)])
hang("src-rank", "unix recv", "h15_src_rank.py", ranks(2), STORE + "unix|broadcast|source|" + ELSEWHERE + CIRCLE,
     "rank 2 waits for a rate of rank 3, who has taken rank 1's; the others wait for rank 2's loss",
     {**all_of(4, "recv>rank2@take", 2), "rank2": "recv>rank3@take"}, also=[cycle("rank2", "rank3")])
hang("stage-order", "pipe", "h15_stage_order.py", cycle("rank0", "rank1"), PIPE + "stage|" + CIRCLE,
     "the first stage waits for a gradient, the second for one more micro-batch",
     {"launcher": "wait4", "rank0": "read@first", "rank1": "read@second"}, also=[ranks(1), ranks(0), ranks(0, 1)])
hang("cleanup", "sleep loop", "h15_cleanup.py", outside(r"\b3\.2\b"), LOOP + NEVER,
     "rank 0 has removed the file of rank 2 for the next barrier, all look for it",
     {**all_of(3, "~nanosleep@barrier")}, also=[NOBODY, ranks(0), ranks(2), ranks(0, 1, 2)])
hang("count-equal", "sleep loop", "h15_count_equal.py", ranks(3), LOOP + STORE + ELSEWHERE + "count|" + NEVER,
     "rank 3 waits for a count of 4, which is 5 as rank 2 was counted twice; the others are one barrier on",
     {**all_of(4, "~nanosleep@barrier")}, also=[NOBODY, ranks(2), ranks(0, 1, 2, 3), ranks(0, 1, 2), role("keys")])
hang("unfreeze", "semaphore", "h15_unfreeze.py", ranks(2), FUTEX + "barrier|" + ELSEWHERE + GONE,
     "rank 2 has more buckets and stays alone at the Barrier, the others have left",
     {"launcher": "wait4>rank2", "rank0": "gone", "rank1": "gone", "rank2": "futex@reduce"}, also=[NOBODY])
hang("mpi-master", "mpi", "3 h15_mpi_master.py", cycle("rank0", "rank2"), LOOP + "mpi|probe|recv|message|" + CIRCLE,
     "rank 0 looks for a result of rank 2, who has told an error by another tag and waits for a trial",
     {**all_of(3, "~nanosleep@wait")}, also=[ranks(2), ranks(0), cycle("rank0", "rank1", "rank2"), ranks(0, 1, 2)],
     needs=["mpi4py", "mpiexec"])
hang("launcher-pipe", "pipe full", "h15_launcher_pipe.py", cycle("launcher", "rank0", "rank1"),
     "write|pipe|full|not read|nobody reads|" + STORE + CIRCLE,
     "the launcher reads what rank 0 says only, rank 1's pipe is full, and rank 0 waits for rank 1",
     {"launcher": "read", "rank0": "recv>store@all_reduce", "rank1": "write>launcher@train",
      "rank2": "recv>store@all_reduce"}, also=[role("launcher"), ranks(1), cycle("launcher", "rank1")])

# Loaders, pools, queues, threads
hang("zmq-sink", "zmq", "h15_zmq_sink.py", role("main"), "zmq|zeromq|poll|recv|result|" + NEVER + "|" + CIRCLE,
     "a worker has logged an error and sent no result, main waits for one more",
     {"main": "poll@collect", "ventilator": "nanosleep", "worker0": "poll", "worker1": "poll", "worker2": "poll"},
     also=[NOBODY, ranks(0), *(cycle("main", "worker%d" % n) for n in range(3)),
           *(role("worker%d" % n) for n in range(3)), role("ventilator")], needs=["zmq"])
hang("grpc-stream", "grpc", "h15_grpc_stream.py", cycle("main", "reward"),
     FUTEX + "grpc|stream|recv|poll|queue|" + CIRCLE, "main waits for five scores, the model for three more texts",
     {"main": "~futex|poll@rewards", "reward": "*futex|poll"}, also=[role("reward"), role("main"), ranks(0)],
     needs=["grpc"])
hang("saver-lock", "futex", "h15_saver_lock.py", role("main"), FUTEX + "join|saver|" + CIRCLE,
     "main waits for a thread with a lock that the thread wants", {"main": "futex@save"}, proved=True,
     also=[cycle("main", "main")])
hang("next-worker", "pipe", "h15_next_worker.py", cycle("main", "worker1"), PIPE + "unix|loader|idle|" + CIRCLE,
     "main takes from worker 1, but has given to worker 0",
     {"main": "read>worker1@epoch", "worker0": "read@work", "worker1": "read>main@work", "worker2": "read@work"},
     also=[role("main"), ranks(0), role("worker1")])
hang("one-sentinel", "queue", "h15_one_sentinel.py", NOBODY, PIPE + FUTEX + "queue|empty|" + GONE + "|" + NEVER,
     "one None for two consumers: the one that is left waits for ever",
     {"main": "wait4>consumer1", "feeder": "gone", "consumer0": "gone", "consumer1": "read@consume"},
     also=[role("consumer1"), role("main"), ranks(0), cycle("main", "consumer1"), role("feeder")])
hang("nested-sem", "epoll", "h15_nested_sem.py", role("main"), "epoll|asyncio|task|sem|idle|event|" + NEVER,
     "four tasks with all the places of a semaphore want one more each", {"main": "epoll"}, also=[NOBODY])
hang("barrier-count", "futex", "h15_barrier_count.cpp", role("main"), FUTEX + "barrier|join|" + GONE + "|" + NEVER,
     "three threads wait at a barrier of four, the fourth has left", {"main": "futex"}, also=[NOBODY])
hang("rwmutex", "go", "h15_rwmutex.go", role("main"), FUTEX + "goroutine|epoll|idle|" + NEVER + "|" + CIRCLE,
     "main takes a read lock twice, and a goroutine wants to write in between", {"main": "*epoll|futex"},
     also=[NOBODY, cycle("main", "main")])
hang("tx-kept", "futex", "h15_tx_kept.rs", role("main"), FUTEX + "chan|park|recv|itself|own|" + NEVER,
     "main waits for a channel of which it is itself the last sender", {"main": "futex"},
     also=[NOBODY, cycle("main", "main"), cycle("main")])
hang("latch", "java", "h15_latch.java", role("main"), FUTEX + "java|pool|park|latch|idle|" + NEVER,
     "a task has failed before it counted, main waits at the latch", {"main": "futex"}, also=[NOBODY],
     needs=["java"])
hang("ring-full", "sleep loop", "h15_ring_full.c", cycle("main", "loader"), LOOP + "ring|full|" + CIRCLE,
     "main looks at an empty place of a ring that is full for its loader",
     {"main": "~nanosleep", "loader": "~nanosleep"}, also=[role("main"), role("loader"), ranks(0), NOBODY])

# Tools and scripts
hang("stdin-open", "epoll", "h15_stdin_open.js", cycle("main", "tokenizer"),
     "epoll|node|stdin|read|pipe|child|idle|" + CIRCLE,
     "main waits for the end of a tokenizer whose stdin it has not closed", {"main": "epoll", "tokenizer": "epoll"},
     also=[role("main"), ranks(0), role("tokenizer"), NOBODY])
hang("until-grep", "sleep loop", "h15_until_grep.sh", outside(r"server\.log|Uvicorn"), LOOP + "grep|log|" + NEVER,
     "a script looks in a log for words that the server does not say", {"main": "~wait4", "service": "accept"},
     also=[role("main"), ranks(0), NOBODY, role("service")])

# Healthy ones
quiet("q-lockf", "flock", "h15_q_lockf.py", 60, "rank 1 converts for 50 s under a lock", "ranks wait for a file's lock")
quiet("q-jit", "sleep loop", "h15_q_jit.py", 60, "a tool compiles for 50 s", "ranks look for the file it makes")
quiet("q-save", "fsync", "h15_q_save.go", 55, "a save takes 44 s", "a program writes and syncs")
quiet("q-mirror", "tcp recv", "h15_q_mirror.py", 70, "a download takes 55 s", "a program reads a slow answer")
quiet("q-elastic", "semaphore", "h15_q_elastic.py", 56, "a Barrier's wait of 45 s has an end", "a rank has left")
quiet("q-index", "tcp recv", "h15_q_index.py", 67, "rank 1 works for 55 s", "a ring waits for one that works")
quiet("q-idle", "epoll", "h15_q_idle.js", 69, "nobody asks for 60 s", "a server that is idle")
quiet("q-cell", "zmq", "h15_q_cell.py", 66, "nobody runs a cell for 55 s", "a kernel that is idle", needs=["zmq"])
quiet("q-futures", "pool", "h15_q_futures.py", 66, "main works for 50 s", "a pool that is idle")
quiet("q-wait", "wait4", "h15_q_wait.sh", 62, "a copy takes 50 s", "a script waits for its background job")
quiet("q-timeout", "futex", "h15_q_timeout.rs", 57, "a wait of 45 s has an end", "a metric that does not come")
quiet("q-get", "java", "h15_q_get.java", 60, "a wait of 45 s has an end", "an upload that is late", needs=["java"])
quiet("q-grpc-ready", "grpc", "h15_q_grpc_ready.py", 60, "a model loads for 55 s", "a call that waits for its server",
      needs=["grpc"])
quiet("q-join", "futex", "h15_q_join.cpp", 61, "two threads work for 50 s", "main waits for them")

if __name__ == "__main__":
    BOOK.write("truth15.json")
