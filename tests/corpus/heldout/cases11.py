"""What is true of each program of programs11; `cases11.py` as a program writes truth11.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h11-", "programs11")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
NOBODY = {"nobody": NEVER}
POLL = "poll|sleep|loop|retr|"
TCP = "recv|read|tcp|not in|elsewhere|"
FUTEX = "futex|lock|mutex|thread|wait|"
LOOP = "epoll|loop|asyncio|await|task|"

# Ranks
hang("moe-empty", "tcp recv", "h11_moe_empty.py", ranks(5), TCP + "exchange|dispatch|reduce|behind|ahead|" + CIRCLE,
     "rank 5's expert got no tokens, it leaves the all-to-all out and is in the next all-reduce", {**all_of(8, "recvfrom>rank5", 0, 5), "rank0": "recvfrom", "rank5": "recvfrom>rank0@reduce"},
     also=[cycle("rank0", "rank5"), cycle(*["rank%d" % r for r in range(8)])])
hang("hash-order", "tcp recv", "h11_hash_order.py", cycle("rank0", "rank1", "rank2"), TCP + "order|differ|" + CIRCLE, "each rank reduces its parameters in the order of a set of strings, which is another one in each",
     all_of(3, "recvfrom@reduce_grads"), also=[cycle("rank0", "rank1"), cycle("rank0", "rank2"), cycle("rank1", "rank2")])
hang("duplicate-rank", "tcp accept", "h11_duplicate_rank.py", ranks(1), "accept|listen|join|connect|rank 3|missing|twice|two processes|" + NEVER, "two processes are rank 1, and none is rank 3, for which rank 0 waits",
     {"rank0": "accept", "rank1": "recvfrom>rank0", "twin": "recvfrom>rank0", "rank2": "recvfrom>rank0"}, also=[ranks(3), outside(r"rank 3\b"), NOBODY, role("twin"), ranks(0)])
hang("micro-batches", "tcp recv", "h11_micro_batches.py", ranks(2), TCP + "more|fewer|count|behind|" + CIRCLE, "stage 2 wants eight micro-batches, the others six",
     {"rank0": "recvfrom>rank1", "rank1": "recvfrom>rank2", "rank2": "recvfrom>rank1", "rank3": "recvfrom>rank2"}, also=[cycle("rank1", "rank2")])
hang("barrier-name", "tcp recv", "h11_barrier_name.py", ranks(1), TCP + "barrier|epoll|ckpt|" + CIRCLE + "|" + NEVER, "rank 1 waits at a barrier of another name than the others",
     {"coordinator": "epoll_wait", **all_of(4, "recvfrom>coordinator@wait_at_barrier")}, also=[role("coordinator")])
hang("select-buffered", "select", "h11_select_buffered.py", ranks(0), "select|recv|read|buffer|tcp|" + CIRCLE, "rank 0 has the second line of each in its buffer and selects for it",
     {"rank0": "select@collect", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"}, also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank2")])
hang("rcvlowat", "poll", "h11_rcvlowat.py", ranks(1), "poll|recv|lowat|unread|queue|tcp|bytes|" + CIRCLE, "rank 1 polls a socket with a low-water mark of 32 KiB, the last 5 KiB are there and not told",
     {"rank1": "poll@receive_tensor", "rank0": "recvfrom>rank1"}, also=[cycle("rank0", "rank1")])
hang("ofd-locks", "fcntl", "h11_ofd_locks.py", cycle("rank0", "rank1"), "fcntl|lock|" + CIRCLE, "ranks 0 and 1 take two locks of open file descriptions in opposite orders", all_of(2, "fcntl@set"))
hang("inherited-flock", "flock", "h11_inherited_flock.py", role("exporter"), "flock|lock", "a forked process has the file of a lock that its parent has closed",
     {"exporter": "read", "rank0": "recvfrom", "rank1": "flock@unpack", "rank2": "flock@unpack"})
hang("retry-after", "sleep", "h11_retry_after.py", ranks(2), "sleep|retr|limit|429|not in|elsewhere", "rank 2 takes an epoch for seconds and sleeps for years",
     {"rank2": "nanosleep@fetch", "rank0": "recvfrom", "rank1": "recvfrom", "rank3": "recvfrom"})
hang("reward", "busy", "h11_reward.py", ranks(1), "busy|cpu|comput|loop|spin|not in|elsewhere|eval|reward|sum", "rank 1 sums a very long range in one operation of the interpreter, its alarm cannot end it",
     {"rank1": "spin", "rank0": "recvfrom>rank1"})
hang("zlib-flush", "tcp recv", "h11_zlib_flush.py", ranks(1), TCP + "flush|buffer|compress|lost|" + CIRCLE, "rank 1 has not flushed its compressor, both wait for an answer",
     {"rank0": "recvfrom>rank1", "rank1": "recvfrom>rank0"}, also=[cycle("rank0", "rank1")])
hang("reuseport", "tcp accept", "h11_reuseport.py", role("stale"), "accept|listen|port|reuse|backlog|recv|sleep|stale|old|connect", "a store of the run before listens on the same port and takes nobody",
     {"stale": "nanosleep", "rank0": "accept", **all_of(8, "recvfrom", 0)})
hang("syslog", "unix send", "h11_syslog.py", role("logd"), "unix|send|full|queue|itself|own|log|not read|" + CIRCLE, "the daemon of logs waits for room in its own queue", {"logd": "sendto@emit|daemon", **all_of(4, "sendto|recvfrom")})
hang("grpc-ready", "grpc", "h11_grpc_ready.py", ranks(2), "grpc|connect|refused|poll|futex|cond|wait|" + NEVER, "rank 2 asks a gRPC store that was never started, with wait_for_ready",
     {"rank2": "~*futex", "rank0": "recvfrom>rank2", "rank1": "recvfrom>rank0"}, needs=["grpc"], also=[outside(r"refused|nobody listens|no listener|no one listens|nothing listens"), NOBODY])
hang("zmq-linger", "zmq", "h11_zmq_linger.py", ranks(2), "zmq|poll|term|linger|close|exit|refused|" + GONE, "rank 2 has a message for rank 0, which has ended, and cannot close its context",
     {"rank2": "~poll", "rank0": "gone", "rank1": "gone"}, needs=["zmq"], also=[ranks(0), NOBODY])
hang("teardown", "tcp recv", "h11_teardown.py", cycle("rank0", "rank1", "rank2", "rank3"), TCP + "order|" + CIRCLE, "ranks 1 and 2 close their groups in the other order",
     {"rank0": "recvfrom>rank1", "rank1": "recvfrom>rank3", "rank3": "recvfrom>rank2", "rank2": "recvfrom>rank0"}, also=[ranks(1, 2)])
hang("unix-backlog", "unix connect", "h11_unix_backlog.py", role("tokenizer"), "connect|unix|accept|backlog|recv|read|one|serve|" + CIRCLE, "a service serves one connection at a time, rank 0 keeps its own",
     {"tokenizer": "recvfrom>rank0", "rank0": "recvfrom", **all_of(6, "connect|recvfrom", 0)},
     also=[ranks(0), cycle("rank0", "tokenizer"), *[cycle("rank0", "rank%d" % r, "tokenizer") for r in range(1, 6)]])
hang("rwmutex", "go", "3* h11_rwmutex.go", ranks(1), "futex|lock|goroutine|mutex|wait|not in|elsewhere|recv|read|tcp|" + NEVER, "rank 1 takes a lock for reading twice, in between a writer has come",
     {"rank1": "*futex|epoll_wait", "rank0": "*futex|epoll_wait", "rank2": "*futex|epoll_wait"})

# Python without ranks
hang("async-fs", "event", "h11_async_fs.py", role("loader"), "fork|thread|event|loop|asyncio|futex|sem|queue|wait|" + NEVER, "a forked loader has an event loop without the thread that runs it", {"loader": "~futex|nanosleep@cat", "main": "futex|read|poll"})
hang("pool-error", "pool", "h11_pool_error.py", role("main"), "pool|result|thread|futex|cond|pickl|wait|ShardError|" + GONE + "|" + NEVER, "the thread that takes results has ended by an error that cannot be unpickled", {"main": "~futex"},
     also=[NOBODY], loud=True)
hang("cached-property", "lock", "h11_cached_property.py", role("main"), FUTEX + "property|pool|" + CIRCLE, "one lock for the properties of all instances; who has it waits for threads that want it", {"main": "futex@index"})
hang("sync-in-loop", "asyncio", "h11_sync_in_loop.py", role("main"), LOOP + "futex|future|result|itself|own|thread|" + CIRCLE + "|" + NEVER, "a handler in the event loop waits for a coroutine of the same loop", {"main": "futex@version"})
hang("swallow-cancel", "asyncio", "h11_swallow_cancel.py", role("main"), LOOP + "queue|cancel|put|full|" + NEVER, "a task goes on when it is cancelled, main waits for its end", {"main": "epoll_wait"}, also=[NOBODY])
hang("nursery", "trio", "h11_nursery.py", role("main"), "epoll|trio|nursery|task|heartbeat|loop|sleep|" + NEVER, "a nursery waits for a heartbeat that never ends", {"main": "~epoll_wait"}, needs=["trio"], also=[NOBODY])
hang("self-flock", "flock", "h11_self_flock.py", role("main"), "flock|lock|itself|own|twice", "a builder has the lock by another descriptor", {"main": "flock@file_lock"})
hang("preexec", "fork", "h11_preexec.py", role("tool"), FUTEX + "fork|exec|pipe|read|child|" + NEVER, "a child waits, between fork and exec, for a lock that a thread of its parent had",
     {"tool": "futex@count", "main": "read>tool"}, also=[cycle("main", "tool")])
hang("masked-term", "wait4", "h11_masked_term.py", role("loader"), "wait4|its child|join|SIGTERM|signal|block|mask|ignor|sleep|poll", "a loader has SIGTERM blocked, and its parent waits for its end", {"main": "wait4>loader", "loader": "~nanosleep@loader"})
hang("in-flight", "pipe", "h11_in_flight.py", cycle("collector", "main"), "pipe|read|recv|unix|descriptor|message|" + CIRCLE + "|" + NEVER, "the writing end of a pipe is in a message that the collector does not take before its settings come",
     {"main": "read", "collector": "recvfrom>main@collector"}, also=[role("collector"), role("main"), ranks(0)])
hang("pidfd", "waitid", "h11_pidfd.py", cycle("compactor", "main"), "waitid|its child|pipe|read|stdin|pidfd|" + CIRCLE, "main waits for a child by its pidfd and has not closed the pipe that the child reads",
     {"main": "waitid", "compactor": "read>main"}, also=[role("main"), role("compactor"), ranks(0)])

# C, C++, Go, Node, Rust, Java, shell
hang("vfork-fifo", "fifo", "h11_vfork_fifo.c", role("converter"), "fifo|open|vfork|exec|child|" + CIRCLE + "|" + NEVER, "a child opens a FIFO for writing between vfork and exec, its parent would be the reader", {"main": "D|vfork", "converter": "openat"},
     also=[cycle("converter", "main"), role("main"), ranks(0), NOBODY])
hang("rwlock", "futex", "h11_rwlock.c", role("main"), FUTEX + "rdlock|read|writer|itself|own|twice|" + CIRCLE + "|" + NEVER, "a lock is taken for reading twice, in between a writer has come, who is preferred", {"main": "futex"})
hang("pause-race", "signal", "h11_pause_race.c", role("main"), "pause|signal|SIGUSR|pipe|read|" + CIRCLE + "|" + NEVER, "a signal came between the look at its flag and pause", {"main": "pause", "feeder": "read>main"},
     also=[cycle("feeder", "main"), ranks(0)])
hang("waitv", "futex", "h11_waitv.c", role("main"), "futex|wake|wait|thread|449|" + GONE + "|" + NEVER, "main waits by futex_waitv without having told that it sleeps; the workers have not waked it, and end", {"main": "449|futex"}, also=[NOBODY])
hang("exit-handler", "thread join", "h11_exit_handler.c", role("main"), FUTEX + "join|exit|atexit|cond|" + CIRCLE + "|" + NEVER, "exit waits for a thread that waits for the next batch to be taken", {"main": "futex"})
hang("statics", "futex", "h11_statics.cpp", role("main"), FUTEX + "guard|static|init|join|" + CIRCLE, "two statics want each other, made by two threads", {"main": "futex"})
hang("max-conns", "go", "h11_max_conns.go", role("main"), "futex|goroutine|chan|select|epoll|conn|wait|http|" + NEVER, "bodies that are not closed keep both connections that a host may have", {"main": "*futex|epoll_wait"}, also=[NOBODY])
hang("thread-pool", "fifo", "h11_thread_pool.js", role("main"), "fifo|open|epoll|loop|thread|libuv|writer|" + NEVER, "four waiting opens of FIFOs have all threads of Node's pool", {"main": "epoll_wait"}, also=[outside(r"sensor-\d"), NOBODY])
hang("exec-sync", "node", "h11_exec_sync.js", cycle("main", "probe"), "epoll|poll|loop|tcp|child|pipe|itself|own|curl|" + CIRCLE, "a service runs curl on itself and waits for it, and answers nobody meanwhile", {"main": "epoll_wait", "probe": "~poll"},
     also=[role("main"), role("probe"), ranks(0)], needs=["curl"])
hang("sender-left", "rust", "h11_sender_left.rs", role("main"), "futex|recv|chan|thread|park|wait|" + NEVER, "main receives until no sender is left, and has one itself", {"main": "futex"}, also=[NOBODY])
hang("class-init", "java", "h11_class_init.java", role("main"), FUTEX + "class|init|java|fork|pool|park|" + CIRCLE + "|" + NEVER, "a class's table is filled by threads that wait for the class to be made", {"main": "*futex"})
hang("tokens", "fifo", "h11_tokens.sh", role("main"), "read|pipe|fifo|itself|own|token|" + GONE + "|" + NEVER, "three jobs have failed and not put their tokens back into a FIFO", {"main": "read"}, also=[NOBODY, outside(r"\btokens\b")])
hang("pgrep-self", "sleep loop", "h11_pgrep_self.sh", role("watcher"), POLL + "wait4|its child|pgrep|itself|own", "a watcher waits until pgrep finds nothing, and it finds the watcher", {"main": "wait4>watcher", "watcher": "~wait4"},
     also=[role("main"), ranks(0)], needs=["pgrep"])
hang("tmux-wait", "unix recv", "h11_tmux_wait.sh", role("server"), "tmux|poll|recv|unix|wait-for|wait4|its child|" + GONE + "|" + NEVER, "the program in tmux has failed before it told its end",
     {"main": "wait4>client", "client": "epoll_wait|poll"}, also=[NOBODY, role("client")], needs=["tmux"])

# Healthy ones that are quiet for about a minute, or look odd
quiet("q-waitv", "futex", "h11_q_waitv.c", 61, "one batch takes 52 s", "a wait for one of two streams by futex_waitv")
quiet("q-vfork", "fifo", "h11_q_vfork.c", 59, "the reader of the FIFO comes after 52 s", "a child opens a FIFO between vfork and exec")
quiet("q-rwlock", "futex", "h11_q_rwlock.c", 63, "a snapshot takes 50 s", "a lock for readers and writers")
quiet("q-pidfd", "waitid", "h11_q_pidfd.py", 59, "the child sorts for 52 s", "a child is waited for by its pidfd")
quiet("q-ofd", "fcntl", "h11_q_ofd.py", 64, "rank 0 writes the cache for 52 s", "a lock of an open file description")
quiet("q-inherited", "flock", "h11_q_inherited.sh", 57, "an upload in the background takes 52 s", "a lock that a background process has inherited", needs=["flock"])
quiet("q-retry", "sleep", "h11_q_retry.py", 61, "a mirror has asked for 50 s", "a rank that waits as a mirror has said")
quiet("q-rejection", "sleep loop", "h11_q_rejection.py", 63, "50 s of documents that are too long", "a rank that leaves samples out")
quiet("q-grpc-ready", "grpc", "h11_q_grpc_ready.py", 62, "a store loads for 52 s", "wait_for_ready", needs=["grpc"])
quiet("q-linger", "zmq", "h11_q_linger.py", 58, "rank 0 evaluates for 50 s", "a last message that is not taken yet", needs=["zmq"])
quiet("q-backlog", "unix connect", "h11_q_backlog.py", 66, "a text takes 50 s", "a service that serves one at a time")
quiet("q-nursery", "trio", "h11_q_nursery.py", 62, "a scope ends after 55 s", "a nursery with a deadline", needs=["trio"])
quiet("q-moe", "tcp recv", "h11_q_moe.py", 61, "rank 5 compiles for 52 s", "eight ranks in an all-to-all")
quiet("q-barrier", "tcp recv", "h11_q_barrier.py", 62, "rank 3 copies data for 54 s", "named barriers")
quiet("q-conns", "go", "h11_q_conns.go", 59, "an upload takes 50 s", "requests wait for the only connection")
quiet("q-thread-pool", "fifo", "h11_q_thread_pool.js", 59, "the writers come after 52 s", "all threads of Node's pool are at FIFOs")
quiet("q-sender", "rust", "h11_q_sender.rs", 57, "a shard takes 52 s", "a channel with one sender left")
quiet("q-fork-join", "java", "h11_q_fork_join.java", 58, "a part takes 52 s", "a parallel stream")
quiet("q-tokens", "fifo", "h11_q_tokens.sh", 56, "two parts take 50 s", "tokens in a FIFO")
quiet("q-pgrep", "sleep loop", "h11_q_pgrep.sh", 61, "stage one takes 55 s", "a watcher of a process", needs=["pgrep"])
quiet("q-tmux", "unix recv", "h11_q_tmux.sh", 60, "a training in tmux takes 54 s", "a script waits for a word in tmux", needs=["tmux"])
quiet("q-spare", "tcp recv", "h11_q_spare.py", 68, "a spare rank has nothing to do", "three ranks train, one is a spare")
quiet("q-stopped", "stopped", "h11_q_stopped.py", 67, "an evaluator is stopped on purpose, then goes on", "a stopped child of a job that goes on")
quiet("q-schedule", "sleep", "h11_q_schedule.py", 62, "a round each 20 s", "a job that works by a schedule")

if __name__ == "__main__":
    BOOK.write("truth11.json")
