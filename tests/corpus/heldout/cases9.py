"""What is true of each program of programs9; `cases9.py` as a program writes truth9.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h9-", "programs9")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
NOBODY = {"nobody": NEVER}
POLL = "poll|sleep|loop|"
TCP = "recv|read|tcp|not in|elsewhere|"
BUSY = "busy|cpu|processor|comput|loop|spin"

# Ranks in Python
hang("negotiate", "negotiation", "h9_negotiate.py", ranks(1), "cond|futex|lock|allreduce|not in|elsewhere|embed|" + CIRCLE,
     "rank 1 never hands one tensor in; the threads that tell each other what is ready go on",
     {"rank1": "futex@allreduce", **all_of(4, "futex@allreduce", 1)})
hang("restarted", "tcp recv", "h9_restarted.py", ranks(2), TCP + "restart|again|step|" + CIRCLE, "rank 2 was started again at step 0, rank 0 waits for its step 11",
     {"rank0": "recvfrom>rank2@part ", "rank2": "recvfrom>rank0", "rank1": "recvfrom>rank0"}, also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("keep-alive", "http", "h9_keep_alive.py", role("config"), TCP + "accept|http|backlog|queue|one at a time|" + CIRCLE,
     "a server of one connection at a time has rank 0's, which is kept open, and does not take rank 1's",
     {"rank0": "recvfrom>rank1@reduce", "rank1": "recvfrom@getresponse", "config": "recvfrom>rank0"},
     also=[cycle("rank0", "rank1", "config"), cycle("rank0", "rank1"), cycle("rank0", "config")])
hang("communicate", "pipe full", "h9_communicate.py", role("launcher"), "pipe|full|write|output|read|" + CIRCLE,
     "the launcher reads rank 0 to its end before rank 1, whose pipe is full",
     {"launcher": "read>rank0@communicate", "rank0": "recvfrom>rank1", "rank1": "write>launcher", "rank2": "recvfrom>rank0"},
     also=[ranks(1), role("rank1", 1), cycle("rank0", "rank1", "launcher"), cycle("rank1", "launcher")])
hang("twice-one", "tcp accept", "h9_twice_one.py", ranks(1), "accept|connect|tcp|listen|rank 2|twice|same|missing|" + NEVER,
     "two processes say that they are rank 1, and none is rank 2: rank 0 accepts for ever",
     {"rank0": "accept", "rank1": "recvfrom>rank0", "other1": "recvfrom>rank0"},
     also=[ranks(2), outside(r"rank 2\b"), ranks(0), role("rank0", 0), role("other1"), NOBODY])
hang("clocks", "sleep loop", "h9_clocks.py", ranks(1), POLL + "cool|not in|elsewhere", "rank 1 sleeps until its other clock has reached the time of day",
     {"rank1": "~nanosleep@cool_down", "rank2": "recvfrom>rank1", "rank0": "recvfrom>rank2"})
hang("milliseconds", "sleep", "h9_milliseconds.py", ranks(3), "sleep|not in|elsewhere", "rank 3 sleeps for 30000 s where milliseconds were meant",
     {"rank3": "nanosleep@shard ", "rank0": "recvfrom>rank3", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"})
hang("cleaner", "busy", "h9_cleaner.py", ranks(1), BUSY + "|match|clean|not in|elsewhere", "an expression takes for ever on a line of rank 1",
     {"rank1": "spin", "rank0": "recvfrom>rank1", "rank2": "recvfrom>rank0"})
hang("empty-shards", "busy", "h9_empty_shards.py", ranks(3), BUSY + "|samples|shard|not in|elsewhere", "rank 3 has no shard and goes round over none",
     {"rank3": "spin", "rank0": "recvfrom>rank3", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"})
hang("no-space", "sleep loop", "h9_no_space.py", ranks(0), POLL + "No space|ENOSPC|full|retry|save|not in|elsewhere", "rank 0 tries to save to a full device again and again",
     {"rank0": "~nanosleep@save", "rank1": "recvfrom>rank0"}, also=[outside(r"/dev/full|No space left")])
hang("gil", "semaphore", "h9_gil.py", ranks(1), "GIL|interpreter|semaphore|sem_|futex|lock|native|thread|not in|elsewhere|" + CIRCLE,
     "rank 1 waits in C, with the interpreter's lock, for its own thread of Python",
     {"rank1": "futex@batch", "rank2": "recvfrom>rank1", "rank0": "recvfrom>rank2"})
hang("omp-fork", "futex", "h9_omp_fork.py", role("loader"), "futex|fork|thread|lock|OpenMP|gomp|barrier|native|" + NEVER,
     "a forked loader uses OpenMP, whose threads are in its parent only", {"main": "read>loader@recv", "loader": "futex@load "},
     also=[cycle("main", "loader")], needs=["gcc"])
hang("shared-connection", "tcp recv", "h9_shared_connection.py", ranks(0), TCP + "answer|share|same|" + CIRCLE + "|" + NEVER,
     "two ranks have one connection, and rank 1 has taken the answer for which rank 0 waits",
     {"rank0": "recvfrom>features@ask", "rank1": "recvfrom>rank0", "features": "recvfrom>rank0"},
     also=[cycle("rank0", "features"), ranks(0, 1), cycle("rank0", "rank1", "features")])
hang("old-rendezvous", "tcp recv", "h9_old_rendezvous.py", role("exporter"), TCP + "accept|connect|rendezvous|" + CIRCLE + "|" + NEVER,
     "ranks 1 and 2 have read a port of yesterday and wait for a process that is no part of their job",
     {"rank0": "accept@Hub|__init__", "rank1": "recvfrom>exporter", "rank2": "recvfrom>exporter", "exporter": "accept"},
     also=[ranks(1, 2), outside(r"\brendezvous\b(?!\.py)"), ranks(0)])
hang("window", "mpi", "3 h9_window.py", ranks(1), "mpi|lock|window|win|barrier|not in|elsewhere|spin|busy|" + CIRCLE,
     "rank 1 holds rank 0's window and is at the barrier, rank 2 wants the window", all_of(3, "spin"), needs=["mpi4py", "mpiexec", "numpy"],
     also=[cycle("rank1", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("rows-columns", "mpi", "4 h9_rows_columns.py", cycle("rank0", "rank1", "rank2", "rank3"), "mpi|allreduce|order|not in|elsewhere|spin|busy|" + CIRCLE,
     "ranks 0 and 3 sum their column first, 1 and 2 their row", all_of(4, "spin"), needs=["mpi4py", "mpiexec"], also=[ranks(0, 3), ranks(1, 2)])
hang("same-identity", "zmq", "h9_same_identity.py", ranks(3), "zmq|poll|recv|identity|router|socket|tcp|join|not in|elsewhere|" + CIRCLE + "|" + NEVER,
     "worker 3 has the identity of worker 2, its messages are dropped; the router waits for it", all_of(4, "poll"),
     needs=["zmq"], also=[ranks(2, 3), ranks(2), cycle("rank0", "rank3"), cycle("rank0", "rank1", "rank2", "rank3"), ranks(0)])
hang("descriptors", "tcp recv", "h9_descriptors.py", role("samples"), TCP + "descriptor|EMFILE|open files|accept|backlog|sleep|poll|limit",
     "a server has no descriptor left and cannot accept", {"samples": "~nanosleep@serve ", **all_of(3, "recvfrom")})
hang("broker", "tcp send", "h9_broker.py", role("broker"), "send|full|buffer|recv|tcp|sleep|poll|loop|not read",
     "a broker does not read from its publishers while the disk is under a limit", {"broker": "~nanosleep@serve ", "rank0": "recvfrom>broker", "rank1": "sendto>broker",
                                                                                    "rank2": "sendto>broker"})
hang("watch-slot", "grpc", "h9_watch_slot.py", role("trials"), "grpc|thread|slot|pool|cond|queue|tcp|busy|futex|" + CIRCLE,
     "a server's only thread streams events to rank 0 and waits for rank 1's report, which waits for a thread",
     {"trials": "*futex@watch", "rank0": "*~futex", "rank1": "*~futex"}, needs=["grpc"],
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "trials"), cycle("rank1", "trials"), cycle("rank0", "trials"), ranks(0)])
hang("zero-first", "tcp recv", "h9_zero_first.py", ranks(4), TCP + "accept|barrier|" + CIRCLE, "rank 4 has not told its node that the data is there, and is at the sum of all",
     {"rank4": "recvfrom>rank1@reduce", "rank1": "recvfrom>rank3", "rank3": "accept", "rank5": "recvfrom>rank4", "rank6": "recvfrom>rank4", "rank7": "recvfrom>rank4",
      "rank2": "accept", "rank0": "recvfrom"}, also=[cycle("rank1", "rank3", "rank4", "rank7"), cycle(*["rank%d" % r for r in range(8)])])
hang("micro-batches", "tcp recv", "h9_micro_batches.py", ranks(4), TCP + "micro|stage|pipeline|" + CIRCLE, "stage 4 has not sent a gradient back and waits for the next activation",
     {"rank4": "recvfrom>rank3", "rank3": "recvfrom>rank4", "rank5": "recvfrom>rank4", "rank0": "recvfrom>rank1", "rank1": "recvfrom>rank2", "rank2": "recvfrom>rank3"},
     also=[cycle("rank3", "rank4"), ranks(3)])
hang("syslog", "unix datagram", "h9_syslog.py", role("logger"), "send|full|queue|datagram|unix|socket|log|sleep|poll|not read", "the log's daemon takes nothing, rank 2 waits to log",
     {"logger": "~nanosleep@daemon", "rank2": "sendto", "rank3": "recvfrom>rank2", "rank4": "recvfrom>rank3", "rank0": "recvfrom>rank4", "rank1": "recvfrom>rank0"},
     also=[ranks(2), role("rank2", 2)])
hang("two-listeners", "tcp recv", "h9_two_listeners.py", role("old"), TCP + "accept|backlog|queue|listen|port|sleep|poll", "an old server has its port still, takes nothing, and gets connections",
     {"old": "~nanosleep@serve", "new": "accept", "rank1": "recvfrom@ask", "rank0": "recvfrom>rank1"})
hang("short-body", "http", "h9_short_body.py", role("store"), TCP + "http|length|body|poll|" + CIRCLE, "a server has sent less than it told, over a connection that stays open",
     {"rank2": "recvfrom>store", "store": "*recvfrom>rank2", "rank3": "recvfrom>rank2", "rank0": "recvfrom>rank3", "rank1": "recvfrom>rank0"},
     also=[cycle("rank2", "store"), ranks(2), role("rank2", 2)])

# One process and its helpers, Python
hang("byte-order", "tcp recv", "h9_byte_order.py {bin}/h9_reader", cycle("main", "reader"), TCP + "length|size|byte|" + CIRCLE,
     "a length in the other byte order: main waits for 352 MB, the reader for the answer", {"main": "recvfrom>reader@read ", "reader": "read>main"}, needs=["gcc"],
     also=[role("reader"), role("main"), ranks(0)])
hang("import-join", "import lock", "h9_import_join.py", role("main"), "import|join|thread|lock|futex|" + CIRCLE,
     "a module waits for its thread, which imports the module", {"main": "futex@join"})
hang("loader-lock", "dynamic loader", "h9_loader_lock.py", role("main"), "dlopen|loader|lock|futex|join|thread|constructor|setup|ld|native|" + CIRCLE,
     "a library's constructor waits for a thread that opens a library", {"main": "futex"}, needs=["gcc"])
hang("from-thread", "asyncio", "h9_from_thread.py", role("main"), "epoll|loop|asyncio|await|task|future|event|wake|" + NEVER,
     "a thread sets a future without waking the loop", {"main": "epoll_wait@main|run_forever"})
hang("default-executor", "thread join", "h9_default_executor.py", role("main"), "thread|join|executor|queue|asyncio|shutdown|" + NEVER,
     "asyncio.run waits for a thread that waits for a command which nobody sends", {"main": "epoll_wait|futex@shutdown|join|run"})
hang("connector", "asyncio", "h9_connector.py", role("main"), "epoll|loop|asyncio|await|task|future|connect|pool|limit|fetch|tcp|" + CIRCLE + "|" + NEVER,
     "all four connections have answers that are never read", {"main": "~epoll_wait@fetch|run_forever", "shards": "~epoll_wait"}, needs=["aiohttp"],
     also=[cycle("main", "shards")])
hang("limiter", "trio", "h9_limiter.py", role("main"), "epoll|loop|trio|thread|limit|slot|token|futex|semaphore|" + CIRCLE + "|" + NEVER,
     "threads that have all slots of a limiter ask for slots of it", {"main": "~epoll_wait"}, needs=["trio"])
hang("open-clone", "asyncio", "h9_open_clone.py", role("main"), "epoll|loop|asyncio|anyio|await|task|stream|receive|tokenize|" + NEVER,
     "one end of a stream is never closed, the tokenizers wait for its end", {"main": "epoll_wait@run_forever|run"}, needs=["anyio"])
hang("backpressure", "semaphore", "h9_backpressure.py", role("main"), "semaphore|acquire|queue|pool|pipe|thread|read|tasks|next|idle|" + CIRCLE + "|" + NEVER,
     "places of filtered results are never given back, the pool's own thread waits for one",
     {"main": "futex@next", "worker0": "read|futex", "worker1": "read|futex"}, also=[cycle("main", "worker0", "worker1")])
hang("killed-reader", "semaphore", "h9_killed_reader.py", role("victim"), GONE + "|semaphore|lock|futex|queue|" + NEVER,
     "a loader was killed with the lock of the queue's readers", {"victim": "gone", "main": "read@get"},
     gone=True, also=[NOBODY])
hang("paused-worker", "heartbeat", "h9_paused_worker.py", role("worker2"), "paus|memory|" + POLL + TCP + "scheduler|wait",
     "worker 2 takes no task any more and tells that ten times a second", {"main": "recvfrom>scheduler", "scheduler": "~recvfrom", "worker2": "~nanosleep|recvfrom"},
     also=[role("scheduler")])
hang("pending", "scheduler", "h9_pending.py", role("scheduler"), POLL + "pending|node|gpu|device|request|resource|recv|tcp|fulfill", "a task asks for a device that no node has",
     {"main": "recvfrom>scheduler", "scheduler": "~nanosleep@schedule "}, also=[outside("no node|pending|autoscaler|gpu")])
hang("chord", "sleep loop", "h9_chord.py", role("main"), POLL + "sqlite|count|task|raised|column|" + CIRCLE + "|" + NEVER, "main looks for a count that does not come, as a task has failed",
     {"main": "~nanosleep", "worker0": "~nanosleep@work ", "worker1": "~nanosleep@work "},
     also=[role("worker0"), role("worker1"), cycle("main", "worker0", "worker1"), outside(r"tasks\.sqlite|no column 'text'"), NOBODY])
hang("select-buffer", "select", "h9_select_buffer.py", cycle("main", "scorer"), "select|poll|pipe|read|stdin|buffer|answer|" + CIRCLE,
     "main's select does not see a line in its buffer, the scorer waits for the answer to it", {"main": "select", "scorer": "read>main"},
     also=[role("main"), ranks(0)])
hang("tls", "tls", "h9_tls.py", cycle("main", "collector"), "recv|read|tcp|tls|ssl|handshake|connect|" + CIRCLE,
     "main begins TLS with a server that waits for the end of a line", {"main": "read|recvfrom", "collector": "recvfrom>main"}, also=[role("collector"), role("main"), ranks(0)])
hang("inotify", "inotify", "h9_inotify.py", cycle("main", "evaluator"), "inotify|pipe|read|event|file|" + CIRCLE + "|" + NEVER,
     "the evaluator waits for an event of another kind than the trainer's rename makes", {"main": "read>evaluator", "evaluator": "read"},
     also=[role("evaluator"), outside(r"checkpoints\b"), NOBODY])
hang("background-tty", "stopped", "h9_background_tty.py", role("decrypt"), "stopped|SIGTT|tty|terminal|background",
     "a job in the background asks its terminal, and the kernel stops it", {"decrypt": "stopped", "main": "stopped", "shell": "~nanosleep|wait4"},
     also=[role("main"), ranks(0)])
hang("linger", "zmq", "h9_linger.py", role("dashboard"), GONE + "|zmq|poll|linger|term|futex|send|connect|127.0.0.1:|" + NEVER,
     "the context waits until messages are sent to a dashboard that is gone", {"main": "poll", "dashboard": "gone"}, gone=True, needs=["zmq"],
     also=[role("main"), ranks(0), NOBODY, outside(r"127\.0\.0\.1:\d+")])
hang("forked-executor", "futex", "h9_forked_executor.py", role("loader"), "futex|fork|thread|pool|executor|cond|result|lock|" + NEVER,
     "a forked loader uses a pool whose threads are in its parent", {"main": "read>loader", "loader": "futex@load "}, also=[cycle("main", "loader")])
hang("zombie", "poll of a pid", "h9_zombie.py", cycle("main", "publish"), GONE + "|zombie|" + POLL + "kill|status|reap|child|wait4|" + CIRCLE,
     "a script looks whether a pid is there; its process has ended and main, which waits for the script, has not taken the status",
     {"main": "wait4>publish", "publish": "~wait4", "export": "gone"}, also=[role("main"), ranks(0), role("publish"), role("export")])
hang("backoff", "sleep", "h9_backoff.py", ranks(2), "sleep|retry|upload|refused|not in|elsewhere", "rank 2 sleeps for days between two tries",
     {"rank2": "~nanosleep@upload", "rank0": "recvfrom>rank2", "rank1": "recvfrom>rank0"}, also=[outside(r"127\.0\.0\.1:\d+|refused")])
hang("flow-control", "terminal", "h9_flow_control.py", ranks(0), "tty|terminal|pts|pty|write|stopped|flow|Ctrl|full|output",
     "somebody has pressed Ctrl-S on the terminal that rank 0 writes to", {"rank0": "write", "rank1": "recvfrom>rank0", "terminal": "~select|poll"},
     also=[role("terminal"), role("terminal", 0), outside(r"/dev/pts|terminal")])
hang("wait-for-ready", "grpc", "h9_wait_for_ready.py", outside(r"127\.0\.0\.1:\d+"), "grpc|connect|refused|nobody|listen|cond|futex|tcp|poll|" + NEVER,
     "a client waits for a server that is not at its port", {"main": "~epoll_wait|futex"}, needs=["grpc"], also=[role("main"), ranks(0), NOBODY])
hang("spawn-fifo", "fifo open", "h9_spawn_fifo.py", outside(r"scores-6\.fifo"), "fifo|open|spawn|vfork|child|reader|nobody|" + CIRCLE + "|" + NEVER,
     "main waits until a child has opened a FIFO, whose other end main opens after that", {"main": "D|vfork"}, also=[role("main"), ranks(0), NOBODY])
hang("paused-reading", "tcp send", "h9_paused_reading.py", role("sink"), "send|full|buffer|tcp|not read|pause|epoll|loop", "a sink has stopped reading and looks for a number that it never hits",
     {"main": "sendto>sink", "sink": "~epoll_wait"}, needs=["uvloop"])
hang("live-bar", "file lock", "h9_live_bar.py", role("packer"), r"lock|fcntl|holds|held|cache\.bin", "a packer holds the lock for which the loader waits; a bar is drawn all the time",
     {"main": "read>loader", "loader": "fcntl>packer", "packer": "nanosleep"}, also=[outside(r"cache\.bin")])
hang("old-pid", "poll of a pid", "h9_old_pid.py", role("exporter"), POLL + "kill|pid|alive|" + GONE, "main waits for the end of a pid that is another process's now",
     {"main": "~nanosleep", "exporter": "~nanosleep"}, also=[role("main"), ranks(0), outside(r"preprocess\.pid")])

# Others
hang("edge", "epoll", "2* h9_edge.c", ranks(0), "epoll|recv|read|unread|tcp|" + CIRCLE, "rank 0 leaves bytes unread, of which it is not told again",
     {"rank0": "epoll_wait", "rank1": "recvfrom>rank0"}, also=[cycle("rank0", "rank1")])
hang("copied-pipe", "go", "h9_copied_pipe.go", role("cleaner"), "pipe|output|holds",
     "a process in the background holds the pipe whose end is waited for", {"main": "*futex|epoll_wait", "cleaner": "nanosleep"})
hang("shutdown", "go", "2* h9_shutdown.go", ranks(0), "epoll|futex|goroutine|chan|Shutdown|http|select|tcp|sleep|" + CIRCLE,
     "rank 0 waits until its requests are done, which last until it ends", {"rank0": "*~epoll_wait|futex", "rank1": "*~epoll_wait|futex"}, also=[cycle("rank0", "rank1")])
hang("early-return", "go", "h9_early_return.go", role("main"), "futex|goroutine|chan|WaitGroup|semacquire|" + NEVER,
     "who collects has gone, all goroutines that send are waited for", {"main": "*futex"})
hang("recovered", "go", "3* h9_recovered.go", ranks(0), "futex|goroutine|mutex|lock|epoll|semacquire|recv|tcp|http|push|" + NEVER,
     "a handler has panicked with a lock held, all requests wait for it", all_of(3, "*~futex|epoll_wait"),
     also=[cycle("rank0", "rank1", "rank2")])
hang("match-guard", "rust", "h9_match_guard.rs", role("main"), "futex|lock|mutex|join|itself|" + CIRCLE, "an arm of a match takes the lock that the match holds",
     {"main": "futex"})
hang("read-again", "rust", "h9_read_again.rs", role("main"), "futex|lock|itself|" + CIRCLE, "a lock is taken for reading twice, a writer came in between",
     {"main": "*futex"})
hang("agent-body", "node", "h9_agent_body.js", role("main"), "epoll|loop|http|socket|agent|node|tcp|request|" + CIRCLE + "|" + NEVER,
     "both sockets of an agent have answers that are never read", {"main": "~epoll_wait", "store": "~epoll_wait"}, also=[cycle("main", "store")])
hang("unread-child", "node", "h9_unread_child.js", cycle("main", "converter"), "pipe|full|write|send|socket|unix|output|not read|epoll|child|" + CIRCLE,
     "main waits for a converter whose output nobody reads", {"main": "~epoll_wait", "converter": "write|sendto>main"}, also=[role("main"), ranks(0), role("converter")])
hang("discarded-future", "thread join", "h9_discarded_future.cpp", role("main"), "futex|join|thread|future|async|sleep|poll|watch|" + NEVER,
     "the destructor of a future waits for a task that ends when main goes on", {"main": "futex"})
hang("ignored-child", "signal", "h9_ignored_child.c", role("main"), GONE + "|signal|SIGCHLD|sigwait|sigtimedwait|ignored|" + NEVER,
     "SIGCHLD is ignored, so that the end of the child is never told", {"main": "sigtimedwait", "trainer": "gone"}, gone=True, also=[role("trainer"), NOBODY])
hang("inherited-lock", "flock", "h9_inherited_lock.sh", role("board"), "lock|flock|holds|held", "a board that was started under the lock still has its descriptor",
     {"main": "wait4", "flock": "flock", "board": "nanosleep|select"}, needs=["flock"], also=[outside(r"gpu0\.lock")])
hang("tee-wait", "pipe", "h9_tee_wait.sh", cycle("main", "tee"), "pipe|read|wait4|its child|" + CIRCLE, "a script waits for its tee, and tee for the end of the script",
     {"main": "wait4", "tee": "read>main"}, also=[role("main"), ranks(0), role("tee")])
hang("tmux-signal", "tmux", "h9_tmux_signal.sh", role("tmux"), GONE + "|tmux|unix|socket|poll|epoll|" + NEVER,
     "a channel of tmux that the evaluation has not signalled before it ended", {"main": "wait4", "waiter": "poll|epoll_wait", "evaluator": "gone"}, needs=["tmux"],
     also=[role("evaluator"), NOBODY, outside("evaluated|tmux"), role("waiter")])
hang("class-init", "java", "h9_class_init.java", role("main"), "futex|java|class|init|thread|lock|join|" + CIRCLE, "two classes that need each other are initialized by two threads",
     {"main": "*futex"}, needs=["java"])
hang("lazy-weights", "page fault", "h9_lazy_weights.c", role("main"), "page|userfault|fault|thread|memory|" + GONE + "|" + NEVER, "a page is touched that nobody brings in, as the thread for it has ended",
     {"main": "userfault"}, needs=["gcc"], also=[NOBODY])
hang("count-of-reads", "kernel aio", "h9_count_of_reads.c", role("main"), "aio|getevents|read|event|asynchron|" + NEVER, "main waits for four reads and has asked for two", {"main": "208|read_events"},
     also=[NOBODY])
hang("ring-read", "io_uring", "2* h9_ring_read.c", ranks(1), "uring|recv|read|tcp|cqring|" + CIRCLE, "rank 1 has sent three parts of four and waits for rank 0's word",
     {"rank0": "426|cqring", "rank1": "recvfrom>rank0"}, also=[cycle("rank0", "rank1")])
hang("read-lock", "go", "h9_read_lock.go", role("main"), "futex|goroutine|mutex|lock|semacquire|sync|" + CIRCLE + "|" + NEVER, "a lock is taken for reading twice, a writer came in between",
     {"main": "*futex"})
hang("poisoned", "condition", "h9_poisoned.rs", role("main"), "futex|cond|lock|mutex|panic|poison|" + NEVER, "a panic has poisoned the lock, the others skip it and main waits for their count",
     {"main": "futex"}, also=[NOBODY])

# Healthy ones that are quiet for about a minute
quiet("q-negotiate", "negotiation", "h9_q_negotiate.py", 67, "rank 1 writes a checkpoint for 60 s", "tensors are negotiated by threads")
quiet("q-communicate", "tcp recv", "h9_q_communicate.py", 67, "the launcher shows what was said at the end", "output by communicate()")
quiet("q-retry-after", "sleep", "h9_q_retry_after.py", 72, "rank 2 was asked to come again in 62 s", "a store that limits its rate")
quiet("q-derive", "busy", "h9_q_derive.py", 63, "keys are derived for 57 s", "calls of C at full speed")
quiet("q-native", "sleep", "h9_q_native.py", 68, "rank 1 is in C for 60 s with the interpreter's lock", "C with the interpreter's lock")
quiet("q-broker", "tcp send", "h9_q_broker.py", 72, "a broker has an alarm for 60 s", "publishers, a broker, a consumer")
quiet("q-watch", "grpc", "h9_q_watch.py", 70, "a trial takes 62 s", "a gRPC stream of events", needs=["grpc"])
quiet("q-slow-import", "import lock", "h9_q_slow_import.py", 63, "a module builds its tables for 60 s", "an import in a thread")
quiet("q-last-upload", "thread join", "h9_q_last_upload.py", 64, "the last upload takes 60 s", "asyncio.run waits for a thread")
quiet("q-long-poll", "http", "h9_q_long_poll.py", 71, "the next job comes after 61 s", "a long poll by aiohttp", needs=["aiohttp"])
quiet("q-one-slot", "trio", "h9_q_one_slot.py", 66, "one file takes 60 s, another waits for its slot", "trio's threads with a limit", needs=["trio"])
quiet("q-paused", "heartbeat", "h9_q_paused.py", 75, "worker 1 takes no task for 60 s", "a scheduler and workers with heartbeats")
quiet("q-pending", "scheduler", "h9_q_pending.py", 66, "a node is started, which takes 60 s", "a scheduler of resources")
quiet("q-inotify", "inotify", "h9_q_inotify.py", 70, "the next checkpoint comes after 62 s", "a folder is watched")
quiet("q-linger", "zmq", "h9_q_linger.py", 67, "a dashboard is back after 60 s", "ZeroMQ sends what is left", needs=["zmq"])
quiet("q-backoff", "sleep", "h9_q_backoff.py", 72, "a server is there again after a minute", "pauses that double")
quiet("q-flow-control", "terminal", "h9_q_flow_control.py", 72, "a terminal is stopped for 60 s", "ranks in a terminal")
quiet("q-cooling", "stopped", "h9_q_cooling.py", 70, "a guard stops the trainer for 60 s", "a guard of temperatures")
quiet("q-window", "mpi", "3 h9_q_window.py", 67, "rank 1 holds a window for 60 s", "one-sided MPI", needs=["mpi4py", "mpiexec", "numpy"])
quiet("q-idle-service", "tcp accept", "h9_q_idle_service.py", 63, "a caller comes every 31 s", "a service that predicts")
quiet("q-copied-pipe", "go", "h9_q_copied_pipe.go", 66, "a cleaner takes 60 s", "output of tools in Go")
quiet("q-shutdown", "go", "2* h9_q_shutdown.go", 65, "the download of a model takes 64 s", "Go's server is shut down")
quiet("q-compaction", "rust", "h9_q_compaction.rs", 68, "a thread compacts for 60 s under a lock", "a lock for reading in Rust")
quiet("q-long-child", "node", "h9_q_long_child.js", 66, "a converter takes 61 s", "children of Node")
quiet("q-class-init", "java", "h9_q_class_init.java", 64, "a class loads its tables for 60 s", "a class that is initialized", needs=["java"])
quiet("q-timer", "timer", "h9_q_timer.c", 66, "the next sample is due after 32 s", "a timer of the kernel")
quiet("q-held-lock", "flock", "h9_q_held_lock.sh", 69, "the job before holds the lock for 64 s", "a GPU's lock", needs=["flock"])
quiet("q-tmux-signal", "tmux", "h9_q_tmux_signal.sh", 65, "the evaluation takes 61 s", "a channel of tmux", needs=["tmux"])
quiet("q-export", "sleep loop", "h9_q_export.sh", 69, "an export takes 63 s", "a script that looks for a pid")
quiet("q-live-bar", "pipe", "h9_q_live_bar.py", 74, "a loader unpacks for 61 s", "a bar that is drawn all the time")
quiet("q-stages", "tcp recv", "h9_q_stages.py", 72, "stage 4 compiles for 60 s", "a pipeline of six stages")
quiet("q-counter", "eventfd", "h9_q_counter.c", 67, "one part takes 62 s", "a counter of the kernel")

if __name__ == "__main__":
    BOOK.write("truth9.json")
