"""What is true of each program of programs29; `cases29.py` as a program writes truth29.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, ranks, role
from kitcases import Book

BOOK = Book("h29-", "programs29")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|read|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|gather|select|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
SPIN = "spin|busy|loop|cpu|processor|comput|running|works|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"
MPI = "mpi|tag|message|root|collective|"

# Ranks
hang("ring-odd", "unix recv", "h29_ring_odd.py", ranks(2), SUM + ELSEWHERE + "metric|pair|exchange|" + CIRCLE,
     "rank 2 has no partner and asks rank 0, which waits in the next sum of the ring",
     {"rank0": "recv>rank2@all_reduce", "rank1": "recv>rank0@all_reduce", "rank2": "recv>rank0@exchange"},
     also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("frame", "unix recv", "h29_frame.py", cycle("rank0", "rank1"), SUM + ELSEWHERE + "length|header|bytes|state|" + CIRCLE,
     "rank 1 waits for four bytes of a message that rank 0 has counted twice, rank 0 for its gradient",
     {"rank0": "recv>rank1", "rank1": "recv>rank0@worker"}, also=[ranks(1), ranks(0)])
hang("endian", "tcp recv", "h29_endian.py", cycle("rank1", "server"), SUM + "length|bytes|feature|server|" + CIRCLE,
     "rank 1 takes a length for another, and waits for 16 MB of a server that waits for a request",
     {"rank0": "recv>rank1@all_reduce", "rank1": "recv>server@fetch", "server": "recv>rank1@serve"},
     also=[ranks(1), role("server"), role("server", 1)])
hang("newline", "tcp recv", "h29_newline.py", ranks(2), SUM + FUTEX + ELSEWHERE + "line|coordinator|" + CIRCLE,
     "rank 2's request is the end of its line before, the coordinator has not seen it",
     {"rank0": "recv>coordinator@add", "rank1": "recv>coordinator@add", "rank2": "recv>coordinator@add", "rank3": "recv>coordinator@add",
      "coordinator": "*recv"}, also=[cycle("rank2", "coordinator"), role("coordinator", 2), role("coordinator")])
hang("no-flush", "pipe read", "h29_no_flush.py", cycle("main", "tokenizer"), SUM + "pipe|flush|buffer|token|stdin|" + CIRCLE,
     "main has its prompts in a buffer and waits for their answers, a tokenizer for the prompts",
     {"main": "read>tokenizer@encode_all", "tokenizer": "read>main@tokenizer"},
     also=[role("main"), ranks(0), role("tokenizer"), role("tokenizer", 0)])
hang("mpi-root", "mpi", "3 h29_mpi_root.py", ranks(2), SUM + SPIN + MPI + ELSEWHERE + "bcast|" + CIRCLE,
     "rank 2 waits for the weights of rank 1, the others for those of rank 2",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin"}, also=[cycle("rank1", "rank2"), cycle("rank0", "rank1", "rank2")],
     needs=["mpi4py", "mpiexec"])
hang("mpi-waitall", "mpi", "4 h29_mpi_waitall.py", ranks(0), SUM + SPIN + MPI + ELSEWHERE + "swap|neighbo|" + CIRCLE + "|" + NEVER,
     "rank 0 waits for a border that rank 3 does not send",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin", "rank3": "spin"}, also=[cycle("rank0", "rank3")], needs=["mpi4py", "mpiexec"])
hang("ps-skip", "pipe", "h29_ps_skip.py", role("worker1"), SUM + ELSEWHERE + "pipe|weight|worker|" + CIRCLE,
     "worker 1 has sent no gradient for an empty batch, the server of parameters waits for it",
     {"main": "read>worker1@serve", "worker1": "read>main@worker", "worker0": "read>main@worker"},
     also=[ranks(1), role("worker1", 1), role("worker1", 0), cycle("main", "worker1")])
hang("best-rank", "sleep loop", "h29_best_rank.py", cycle("rank0", "rank1"), LOOP + "best|" + CIRCLE + "|" + NEVER,
     "each of two ranks waits for a file of the other one",
     {"rank0": "~nanosleep|select@wait_for_best", "rank1": "~nanosleep|select@wait_for_best"}, also=[ranks(0), ranks(1)])
hang("rotate", "sleep loop", "h29_rotate.py", ranks(1), LOOP + "ckpt|checkpoint|mark|barrier|" + NEVER,
     "rank 1 looks for a mark that rank 0 has thrown away",
     {"rank0": "recv>rank1@barrier", "rank1": "~nanosleep|select@wait_for_mark"}, also=[cycle("rank0", "rank1")])

# One program: threads, pools, queues, asyncio, servers
hang("rw-upgrade", "futex", "h29_rw_upgrade.py", role("main"), FUTEX + "upgrad|reader|writ|" + CIRCLE + "|" + NEVER,
     "two threads read and want to write, each waits until the other reads no more", {"main": "*futex@write"})
hang("lock-order", "futex", "h29_lock_order.cpp", role("main"), FUTEX + "order|owner|hold|" + CIRCLE,
     "two threads have a mutex each and want the other's", {"main": "futex"})
hang("notify", "futex", "h29_notify.java", role("main"), FUTEX + "monitor|notif|object|buffer|" + NEVER,
     "a notify() has woken a decoder where a trainer was meant", {"main": "*futex"})
hang("latch", "futex", "h29_latch.py", role("main"), FUTEX + "latch|pool|count|" + NEVER,
     "main waits for a latch that a skipped shard has not counted", {"main": "futex@wait"})
hang("queue-self", "futex", "h29_queue_self.py", cycle("worker0", "worker1"), SUM + FUTEX + "queue|full|put|" + CIRCLE,
     "two workers put into a full queue that only they take from",
     {"main": "*read|futex@main", "worker0": "*futex@put", "worker1": "*futex@put"},
     also=[role("worker0"), role("worker1"), role("worker0", 0), role("worker1", 0), role("main"), ranks(0)])
hang("sentinel", "futex", "h29_sentinel.py", role("worker3"), SUM + FUTEX + "child|queue|get|None|" + NEVER,
     "a fourth worker waits for a task, there were three ends only", {"main": "wait4>worker3", "worker3": "*read|futex@get"},
     also=[role("worker3", 0), role("main"), ranks(0), cycle("main", "worker3")])
hang("task-done", "futex", "h29_task_done.py", role("main"), FUTEX + "task_done|queue|join|" + NEVER,
     "main waits for a task that was not told done", {"main": "futex@join"})
hang("nested-pool", "futex", "h29_nested_pool.py", role("main"), FUTEX + "pool|executor|own|itself|" + CIRCLE + "|" + NEVER,
     "both threads of a pool wait for tasks of the same pool", {"main": "*futex@collate"})
hang("executor", "epoll", "h29_executor.py", role("main"), FUTEX + SUM + "executor|pool|queue|asyncio|" + NEVER,
     "all threads of an executor wait for queues that its next task would fill", {"main": "epoll@run"})
hang("swallowed", "epoll", "h29_swallowed.py", role("main"), SUM + FUTEX + LOOP + "cancel|task|asyncio|heartbeat|" + NEVER,
     "main awaits a heartbeat that has swallowed its cancel", {"main": "~epoll"})
hang("joiner", "zmq", "h29_joiner.py", cycle("main", "evaluator"), SUM + "zmq|zeromq|subscri|publi|score|" + CIRCLE + "|" + NEVER,
     "an evaluator has missed the weights, main waits for its score",
     {"main": "poll@main", "evaluator": "poll@evaluator"},
     also=[role("evaluator"), role("evaluator", 0), role("main"), ranks(0)], needs=["zmq"])
hang("grpc-watch", "grpc", "h29_grpc_watch.py", cycle("rank1", "registry"), SUM + FUTEX + "grpc|stream|watch|registry|" + CIRCLE + "|" + NEVER,
     "the only thread of a service serves a stream of rank 1, whose next call waits for it",
     {"rank0": "read>rank1@mean", "rank1": "*~futex|poll|epoll@body", "registry": "*~futex@watch"},
     also=[ranks(1), role("registry"), role("registry", 1)], needs=["grpc"])
hang("keepalive", "tcp recv", "h29_keepalive.py", cycle("rank1", "server"), SUM + "accept|backlog|connect|http|server|" + CIRCLE,
     "a server reads rank 0's idle connection, rank 1's waits to be accepted, rank 0 for rank 1",
     {"rank0": "recv>rank2@all_reduce", "rank1": "recv@ask", "rank2": "recv>rank1@all_reduce", "server": "recv>rank0@serve"},
     also=[role("server"), role("server", 1), role("server", 0), ranks(0), ranks(1), cycle("rank0", "rank1", "server"),
           cycle("rank0", "rank1", "rank2", "server")])
hang("chunked", "http", "h29_chunked.py", cycle("main", "server"), SUM + "http|chunk|server|store|" + CIRCLE,
     "a server has not told the end of its answer, and waits for the next question",
     {"main": "recv>server@fetch", "server": "*recv"}, also=[role("server"), role("server", 0), role("main"), ranks(0)])
hang("flock-child", "flock", "h29_flock_child.py", role("uploader"), SUM + FUTEX + "flock|held|hold|inherit|child|",
     "an uploader has inherited a lock and waits for a name, rank 1 for the lock",
     {"rank0": "read>rank1@mean", "rank1": "flock@refresh", "uploader": "read>rank0@upload"},
     also=[role("uploader", 0), role("uploader", 1), ranks(1), ranks(0), cycle("rank0", "rank1"), cycle("rank0", "rank1", "uploader"),
           cycle("rank1", "uploader")])
hang("counter-race", "shared memory", "h29_counter_race.py", cycle("rank0", "rank1", "rank2"), LOOP + SPIN + "barrier|arriv|counter|shared|" + CIRCLE + "|" + NEVER,
     "three ranks look at a counter that has lost an arrival",
     {"rank0": "~nanosleep|select@barrier", "rank1": "~nanosleep|select@barrier", "rank2": "~nanosleep|select@barrier"},
     also=[ranks(0), ranks(1), ranks(2), ranks(0, 1), role("launcher")])
hang("sem-early", "futex", "h29_sem_early.c", role("worker1"), FUTEX + GONE + "|semaphore|child|" + NEVER,
     "a worker has ended without its sem_post(), main waits for it", {"main": "futex", "worker1": "gone"},
     also=[role("main"), ranks(0), role("worker1", 0)])
hang("progress", "futex", "h29_progress.py", role("main"), FUTEX + "progress|draw|hold|" + CIRCLE,
     "main joins a thread that wants the lock which main has", {"main": "futex@stop"})
hang("tty-stopped", "stopped", "h29_tty_stopped.py", ranks(1), "stop|SIGTTIN|terminal|tty|background|paus",
     "rank 1 has read its terminal from the background and was stopped", {"rank0": "read>rank1@mean", "rank1": "stopped", "leader": "wait4>rank0"})
hang("tee", "fifo", "h29_tee.sh", role("board"), SUM + "fifo|pipe|full|write|tee|" + CIRCLE + "|" + NEVER,
     "a board waits for an acknowledgement, a FIFO is full, and tee and the training stand", {"main": "write", "board": "read"},
     also=[role("board", 0), role("main"), ranks(0)])
hang("entrypoint", "sleep loop", "h29_entrypoint.sh", role("main"), LOOP + SUM + "port|connect|refus|listen|wait|child|" + NEVER,
     "an entrypoint waits for a port at which nobody listens", {"main": "~wait4", "store": "accept"},
     also=[role("store"), role("store", 0), cycle("main", "store")])
hang("proxy", "tcp recv", "h29_proxy.py", role("proxy"), SUM + FUTEX + "proxy|forward|thread|keeper|" + CIRCLE + "|" + NEVER,
     "a proxy's thread towards the server has ended, rank 1 waits for an answer",
     {"rank0": "recv>rank1@all_reduce", "rank1": "recv>proxy@body", "keeper": "recv>proxy@serve", "proxy": "*recv>keeper@forward"},
     also=[role("proxy", 1), ranks(1), role("keeper", 1), role("keeper"), cycle("rank1", "proxy"), cycle("proxy", "keeper"),
           cycle("rank1", "proxy", "keeper")])
hang("republish", "futex", "h29_republish.py", role("main"), FUTEX + "itself|own|same|publish|" + NEVER,
     "a handler publishes under the lock that its publisher has", {"main": "futex@lower"})
hang("memmap", "shared memory", "h29_memmap.py", cycle("rank0", "rank1"), LOOP + SPIN + ELSEWHERE + "mailbox|memmap|" + CIRCLE + "|" + NEVER,
     "rank 0 is a step ahead, and each looks for a step that the other does not write",
     {"rank0": "~nanosleep|select@exchange", "rank1": "~nanosleep|select@exchange"}, also=[ranks(0), ranks(1)], needs=["numpy"])
hang("redis", "tcp recv", "h29_redis.py", cycle("main", "worker"), SUM + "redis|list|key|BLPOP|server|" + CIRCLE + "|" + NEVER,
     "main waits for a score, its worker for a task under another key",
     {"main": "recv>redis@main", "worker": "recv>redis@worker", "redis": "~epoll"},
     also=[role("worker"), role("worker", 0), role("main"), ranks(0), role("redis"), role("redis", 0), cycle("main", "redis"),
           cycle("main", "worker", "redis")], needs=["redis-server"])
hang("gloo-neighbour", "gloo", "h29_gloo_neighbour.py", ranks(2), SUM + FUTEX + ELSEWHERE + "gloo|pipeline|" + CIRCLE,
     "rank 2 receives from rank 0, which is in a sum, and rank 1 sends to rank 2",
     {"rank0": "*futex@body", "rank1": "*futex@pipeline", "rank2": "*futex@pipeline"}, also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")],
     needs=["torch"])
hang("loader-asks", "pipe", "h29_loader_asks.py", cycle("main", "loader"), SUM + FUTEX + "queue|loader|worker|batch|" + CIRCLE,
     "a loader waits for main's answer to a question, main for its batch",
     {"main": "*~futex|poll|select", "loader": "read|futex@__getitem__"}, also=[role("loader"), role("loader", 0), role("main"), ranks(0)],
     needs=["torch"])
hang("joblib", "futex", "h29_joblib.py", role("main"), FUTEX + LOOP + "joblib|extract|hold|" + CIRCLE,
     "a thread has a lock and waits for tasks that want it", {"main": "*futex|nanosleep@part"}, needs=["joblib"])
hang("ray-self", "ray", "h29_ray_self.py", role("actor"), SUM + FUTEX + "ray|actor|itself|own|get|" + NEVER,
     "an actor waits for its own next task", {"main": "*~futex|epoll|poll", "actor": "*~futex@train"},
     also=[role("actor", 0), role("main"), ranks(0), cycle("main", "actor")], needs=["ray"])
hang("limiter", "epoll", "h29_limiter.js", role("main"), SUM + "promise|event|loop|timer|" + NEVER,
     "all places of a limiter are taken by questions that have returned", {"main": "~epoll"})
hang("errors", "futex", "h29_errors.go", role("main"), FUTEX + "WaitGroup|semacquire|chan|goroutine|" + NEVER,
     "goroutines want to send their results, whose collector has left at the first error", {"main": "*~futex"})
hang("cond", "futex", "h29_cond.rs", role("main"), FUTEX + "condvar|decode|notif|" + NEVER,
     "main waits for a condition that was notified before", {"main": "futex"})

# Healthy ones
quiet("q-ring-odd", "tcp recv", "h29_ring_odd.py slow", 95, "rank 2 validates for 66 s", "the others wait in a ring")
quiet("q-frame", "unix recv", "h29_frame.py slow", 97, "rank 0 saves to a slow folder for 70 s", "rank 1 waits for its message")
quiet("q-mpi-root", "mpi", "3 h29_mpi_root.py slow", 95, "rank 2 validates for 67 s", "the others wait in a gather", needs=["mpi4py", "mpiexec"])
quiet("q-ps-skip", "pipe", "h29_ps_skip.py slow", 97, "worker 1 reads a cold shard for 69 s", "a server of parameters waits for it")
quiet("q-best-rank", "sleep loop", "h29_best_rank.py slow", 98, "rank 0 exports for 70 s", "rank 1 looks for its file")
quiet("q-rw-upgrade", "futex", "h29_rw_upgrade.py slow", 95, "a sample is decoded for 67 s", "a reader and main wait")
quiet("q-lock-order", "futex", "h29_lock_order.cpp slow", 93, "a table is sorted for 66 s under two locks", "a loader waits for one of them")
quiet("q-notify", "futex", "h29_notify.java slow", 92, "a batch takes 65 s", "decoders wait for room, a trainer for the other")
quiet("q-queue-self", "futex", "h29_queue_self.py slow", 93, "a document is parsed for 68 s", "main waits for what comes, the other worker for it")
quiet("q-sentinel", "futex", "h29_sentinel.py slow", 90, "a last shard takes 66 s", "main waits for its result, which nobody sees")
quiet("q-executor", "epoll", "h29_executor.py slow", 99, "an embedding takes 72 s", "the loop and two consumers wait")
quiet("q-swallowed", "epoll", "h29_swallowed.py slow", 88, "a collector takes 66 s", "main awaits its answer, a heartbeat beats")
quiet("q-joiner", "zmq", "h29_joiner.py slow", 97, "a score takes 67 s", "main waits for it", needs=["zmq"])
quiet("q-grpc-watch", "grpc", "h29_grpc_watch.py slow", 98, "a service compacts for 70 s", "rank 1 waits for it", needs=["grpc"])
quiet("q-chunked", "http", "h29_chunked.py slow", 97, "chunks come slowly for 69 s", "main reads its answer")
quiet("q-flock-child", "flock", "h29_flock_child.py slow", 97, "rank 0 fills a cache for 70 s under a lock", "rank 1 waits for the lock")
quiet("q-counter-race", "shared memory", "h29_counter_race.py slow", 93, "rank 1 rebuilds its index for 66 s", "the others look at a counter")
quiet("q-progress", "futex", "h29_progress.py slow", 97, "a matrix is computed for 68 s under a lock", "a progress line waits for it")
quiet("q-tee", "fifo", "h29_tee.sh slow", 100, "a board draws for 66 s", "a FIFO is full, tee and main wait")
quiet("q-entrypoint", "sleep loop", "h29_entrypoint.sh slow", 98, "a store loads for 69 s", "an entrypoint waits for its port")
quiet("q-proxy", "tcp recv", "h29_proxy.py slow", 93, "a server writes a snapshot for 67 s", "rank 1 and a proxy wait for it")
quiet("q-memmap", "shared memory", "h29_memmap.py slow", 97, "rank 1 sorts for 70 s", "rank 0 looks at a file", needs=["numpy"])
quiet("q-redis", "tcp recv", "h29_redis.py slow", 95, "a worker evaluates for 68 s", "main waits for its score", needs=["redis-server"])
quiet("q-gloo-neighbour", "gloo", "h29_gloo_neighbour.py slow", 97, "rank 2 computes metrics for 66 s", "the others wait in a sum", needs=["torch"])
quiet("q-loader-asks", "pipe", "h29_loader_asks.py slow", 97, "a document takes 69 s", "main waits for its batch", needs=["torch"])
quiet("q-joblib", "futex", "h29_joblib.py slow", 100, "a subject takes 68 s under a lock", "main and another thread wait", needs=["joblib"])
quiet("q-limiter", "epoll", "h29_limiter.js slow", 95, "a service answers after 66 s", "main awaits it")
quiet("q-cond", "futex", "h29_cond.rs slow", 103, "an epoch is decoded for 67 s", "main waits for it")

if __name__ == "__main__":
    BOOK.write("truth29.json")
