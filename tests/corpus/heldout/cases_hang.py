"""Hung programs. H(name, wait, run, culprit, why, proved, about, expect, needs)

expect: role -> regex for "state call wchan" of its first thread ("*" any thread, "~" the two looks may differ, "gone" ended)."""
CASES, EXPECT = [], {}
RECV, FUTEX = "S recvfrom", "S futex"


def H(name, wait, run, culprit, why, proved, about, expect, needs=()):
    CASES.append({"name": name, "class": "hang", "wait": wait, "run": run if isinstance(run, list) else py(run), "needs": list(needs),
                  "truth": {"culprit": culprit, "why": why, "proved": proved}, "about": about})
    EXPECT[name] = expect


def py(s):
    f, *a = s.split()
    return ["{python}", "{here}/programs/%s.py" % f] + a


def native(n, cmd, keep=False):
    return ["{python}", "{here}/kit.py", "--nproc", str(n)] + (["--keep"] if keep else []) + ["--"] + cmd


def R(*r):
    return {"ranks": list(r)}


def role(n, of=None):
    return {"role": n} if of is None else {"role": n, "of_rank": of}


def cyc(*m):
    return {"cycle": list(m)}


def out():
    return {"outside": "127\\.0\\.0\\.1:\\d+"}


NOBODY = ["nobody", "no one", "none (is )?left", "never", "empty", "no other"]
QUEUE = NOBODY + ["queue"]
LOCK = ["lock", "mutex"]
CIRCLE = ["deadlock", "circle", "cycle", "each other", "both"]
STOP = ["stopp", "SIGSTOP", "paused", "frozen", "suspended", "state T"]
ANSWER = ["answer", "respon", "silent", "remote", "server", "reply", "recv", "outside"]
DEAD = ["dead", "died", "killed", "ended", "exited", "gone", "no longer", "abandon", "nobody"]
SLEEP = ["sleep", "idle", "lock", "holds"]

H("queue-2", "queue get", "feed_allreduce 4 2 3 0", R(2), QUEUE, False, "the feeding thread of rank 2 ended with an error that was swallowed", {"rank2": FUTEX, "rank0": RECV, "rank1": RECV, "rank3": RECV})
H("queue-0-copies", "queue get", "feed_allreduce 3 0 0 1", R(0), QUEUE, True, "the same in the rank that adds up, with a monitor child", {"rank0": FUTEX, "rank1": RECV, "rank2": RECV})
H("queue-5-of-6", "queue get", "feed_allreduce 6 5 1 1", R(5), QUEUE, False, "the same in the last of six ranks", {"rank5": FUTEX, "rank0": RECV})
H("ring-order", "tcp recv", "ring_order 4 2 0", cyc("rank0", "rank1", "rank2", "rank3"), CIRCLE + ["recv"], False, "a hand-made ring where all receive first at an epoch's end", {"rank%d" % i: RECV for i in range(4)})
H("ring-order-copies", "tcp recv", "ring_order 3 0 1", cyc("rank0", "rank1", "rank2"), CIRCLE + ["recv"], False, "the same with monitor children that keep copies", {"rank%d" % i: RECV for i in range(3)})
H("tree-flush", "threading.Lock", "tree_sum", R(5), LOCK + ["event", "never"], True, "a statistics flusher keeps the lock", {"rank5": FUTEX, "rank0": RECV, "rank6": RECV, "rank3": RECV})
H("push-both", "tcp send full", "push_grads", cyc("server", "rank1"), CIRCLE + ["send", "full", "buffer"], False, "parameter server and client send large states at the same time", {"server": "S sendto", "rank1": "S sendto", "rank0": RECV})
H("halo-both", "unix send full", "halo", cyc("rank1", "rank2"), CIRCLE + ["send", "full", "buffer"], False, "neighbours send large borders before they receive", {"rank1": "S sendto", "rank2": "S sendto", "rank0": RECV, "rank3": RECV})
H("accept-none", "tcp accept", "side_channel", R(3), NOBODY + ["accept", "connect"], False, "a helper that should call in was never started", {"rank3": "S accept", "rank0": RECV})
H("silent-http", "tcp recv", "remote_shard 3 0 0", out(), ANSWER, False, "a shard server takes requests and says nothing", {"rank1": RECV, "rank0": RECV, "rank2": RECV})
H("silent-all", "tcp recv", "remote_shard 0 1 1", out(), ANSWER, False, "all ranks wait for the same silent server", {"rank1": RECV, "rank0": RECV, "rank2": RECV})
H("loop-select", "epoll", "mux_loop", R(2), NOBODY + ["epoll", "poll", "event loop", "wake", "select"], False, "an event loop whose wake-up is never written", {"rank2": "S epoll_wait", "rank0": RECV, "rank1": RECV})
H("flock-paused", "flock", "epoll_hub", role("janitor3", 3), STOP + ["lock"], True, "a cleaner was paused inside the index lock", {"rank3": "S flock", "janitor3": "^T", "rank0": "S epoll_wait", "rank1": RECV})
H("aio-future", "asyncio future", "aio_ranks f", R(1), NOBODY + ["future", "asyncio", "await", "event loop", "epoll"], False, "a future that nobody completes", {"rank0": "S epoll_wait", "rank1": "S epoll_wait", "rank2": "S epoll_wait"})
H("aio-producer", "asyncio queue", "aio_ranks q", R(1), NOBODY + ["queue", "asyncio", "await", "task", "event loop"], False, "the producer task failed without a word", {"rank0": "S epoll_wait", "rank1": "S epoll_wait", "rank2": "S epoll_wait"})
H("aio-gather", "asyncio queue", "aio_single", role("main"), NOBODY + ["queue", "asyncio", "await", "task", "gather"], False, "gather keeps the failure of the producer to itself", {"main": "S epoll_wait"})
H("aio-thread-lock", "threading.Lock", "aio_thread", cyc("rank1"), LOCK + CIRCLE, False, "the loop keeps a lock over an await of a thread that wants it", {"rank1": "S epoll_wait", "rank0": RECV})
H("mplock-killed", "mp.Lock", "shared_guard 0 0", R(2), LOCK + DEAD + ["semaphore"], True, "a helper was killed inside a lock of multiprocessing", {"rank2": FUTEX, "rank0": RECV, "rank1": RECV})
H("mplock-killed-busy", "mp.Lock", "shared_guard 3 1", R(2), LOCK + DEAD + ["semaphore"], False, "the same with service threads and a monitor child", {"rank2": FUTEX, "rank0": RECV, "rank1": RECV})
H("fifo-partner", "fifo open", "handler_gate", R(2), NOBODY + ["fifo", "writer", "open"], False, "a FIFO is opened before its writer exists", {"rank2": "S openat", "rank0": "poll", "rank1": RECV})
H("http-lock", "lock and socket", "weights_http", cyc("rank0", "rank1"), CIRCLE + LOCK, False, "a handler wants the lock that the waiting main thread has", {"rank0": RECV, "rank1": RECV, "rank2": RECV})
H("key-of-3", "wait4 child", "kv_xml", role("fetcher3", 3), ["sleep", "child", "wait", "subprocess"], False, "rank 3 waits for a tool that never ends, the others for its key", {"rank3": "S wait4", "fetcher3": "nanosleep", "rank0": RECV, "rank1": RECV, "server": "poll"})
H("own-pipe", "pipe empty", "kv_store 0 0", R(1), NOBODY + ["itself", "own", "only writer", "pipe"], True, "a pipe whose write end only the reader has", {"rank1": "S read .*pipe", "rank0": RECV, "rank2": RECV})
H("own-pipe-busy", "pipe empty", "kv_store 2 1", R(1), NOBODY + ["itself", "own", "only writer", "pipe"], False, "the same with service threads and a copy in a monitor child", {"rank1": "S read .*pipe", "rank0": RECV, "rank2": RECV})
H("relay-behind", "threading.Condition", "relay", R(2), NOBODY + ["condition", "notif"], False, "a relay between two ranks; the far one waits for a note", {"rank2": FUTEX, "rank0": RECV, "rank1": RECV, "proxy": "select"})
H("udp-lost", "udp recv", "udp_ack", cyc("rank0", "rank3"), CIRCLE + ["udp", "datagram", "lost", "recv"], False, "a datagram was lost and there is no second try", {"rank0": RECV, "rank3": RECV, "rank1": RECV})
H("tool-unread", "wait4 child", "export_tool", cyc("rank1", "tool1"), CIRCLE + ["pipe", "full", "reads", "stdout"], True, "wait() for a tool whose output pipe is full", {"rank1": "S wait4", "tool1": "S write .*pipe", "rank0": RECV})
H("sink-paused", "pipe full", "log_pipe", role("collector"), STOP, True, "the collector of log lines is paused, the pipe is full", {"collector": "^T", "rank0": "S write .*pipe|S recvfrom", "rank1": "S write .*pipe|S recvfrom"})
H("join-before-get", "mp.Queue join", "mpq_join", cyc("main", "worker"), CIRCLE + ["pipe", "full", "join"], True, "a process is joined before its queue is emptied", {"main": "S wait4", "worker": "*S write .*pipe"})
H("pipe-both-recv", "mp.Pipe recv", "mp_pipe_pair", cyc("main", "worker"), CIRCLE + ["recv", "read"], False, "one flush too much in a request and answer protocol", {"main": "S read", "worker": "S read"})
H("relock-thread", "threading.Lock", "relock thread", cyc("rank1"), LOCK, True, "a plain lock is taken again in a callback", {"rank1": FUTEX, "rank0": RECV})
H("relock-mp", "mp.Lock", "relock mp", cyc("rank1"), LOCK + ["semaphore"], False, "a lock of multiprocessing is taken again in a callback", {"rank1": FUTEX, "rank0": RECV})
H("mp-abba", "mp.Lock", "two_workers", cyc("worker0", "worker1"), LOCK + CIRCLE, True, "two workers take two locks in opposite order", {"main": "S wait4", "worker0": FUTEX, "worker1": FUTEX})
H("permits-lost", "mp.Semaphore", "permits", R(2), NOBODY + DEAD + ["semaphore"], False, "workers ended without giving back their permits", {"rank2": FUTEX, "rank0": RECV, "rank1": RECV})
H("event-killed", "mp.Event", "go_event", role("coordinator"), DEAD + ["never", "event"], False, "the process that should set the event was killed", {"rank0": FUTEX, "rank1": FUTEX, "rank2": FUTEX, "main": "S wait4"})
H("note-missed", "mp.Condition", "missed_note", R(1), NOBODY + ["condition", "notif"] + CIRCLE, False, "notify came before wait", {"rank1": FUTEX, "rank0": "S read"})
H("barrier-left", "mp.Barrier", "barrier_left", R(2), DEAD + ["barrier", "missing", "left"], False, "one of four processes ended early", {"rank0": FUTEX, "rank1": FUTEX, "rank3": FUTEX})
H("manager-paused", "mp.Manager", "manager_dict", role("manager"), STOP, True, "the manager's process is paused", {"manager": "^T", "rank0": "S read|S connect", "rank1": "S read|S connect"})
H("pool-lost", "mp.Pool map", "pool_map", R(1), DEAD + ["pool", "lost", "result", "never"], False, "a pool's worker was killed, its task is lost", {"rank1": FUTEX, "rank0": RECV})
H("spin-lockf", "spin flag", "flag_spin", role("stager1", 1), SLEEP, False, "ranks spin on a rank that wants a record lock of a sleeping stager", {"rank0": "R", "rank1": "S fcntl", "stager1": "nanosleep", "rank2": "R"})
H("pool-of-one", "future", "nested_pool", cyc("rank0"), CIRCLE + ["future", "pool", "worker", "executor", "itself"], False, "a task waits for a second task in a pool with one thread", {"rank0": FUTEX, "rank1": RECV, "rank2": RECV})
H("fork-lock", "lock over fork", "fork_log", role("saver1", 1), LOCK + ["fork", "inherit"], True, "a child was forked while another thread had the lock", {"saver1": FUTEX, "rank1": "S wait4", "rank0": RECV})
H("cond-abba", "threading.RLock", "cond_order", cyc("rank2"), LOCK + CIRCLE, False, "a lock and a condition in opposite order", {"rank2": FUTEX, "rank0": RECV, "rank1": RECV})
H("thread-gate", "threading.Barrier", "gate_threads", R(3), NOBODY + DEAD + ["barrier"], True, "one thread of a barrier has died", {"rank3": FUTEX, "rank0": RECV, "rank1": RECV})
H("join-accept", "thread join", "join_listener", R(0), ["accept", "join", "thread", "connect", "nobody"], False, "the exporter's thread stands in accept and is joined", {"rank0": FUTEX, "rank1": RECV})
H("flock-and-sum", "lock and socket", "cache_lock", cyc("rank0", "rank2"), CIRCLE + LOCK, True, "a cache lock is kept over a collective", {"rank0": "S flock", "rank2": RECV, "rank1": RECV})
H("chain-lockf", "fcntl lock", "stage_chain", role("syncer"), STOP + ["lock"], True, "a chain of stages ends at a record lock of a paused process", {"rank2": "S fcntl", "rank1": RECV, "rank0": RECV, "syncer": "^T"})
H("ofd-child", "OFD lock", "ofd_lock", role("bg0", 0), SLEEP + ["lock", "inherit", "child"], False, "a background child inherited the descriptor with the lock", {"rank0": "S fcntl", "bg0": "nanosleep", "rank1": RECV})
H("child-paused", "wait4 child", "wait_kid 0 0", role("tool1", 1), STOP, True, "the tool that a rank waits for is paused", {"rank1": "S wait4", "tool1": "^T", "rank0": RECV})
H("child-paused-busy", "wait4 child", "wait_kid 2 1", role("tool1", 1), STOP, True, "the same with service threads and copies", {"rank1": "S wait4", "tool1": "^T", "rank0": RECV})
H("filter-full", "pipe full", "filter_tool", cyc("rank2", "filter2"), CIRCLE + ["pipe", "full", "reads"], False, "all input is written before any output is read", {"rank2": "S write .*pipe", "filter2": "S write .*pipe", "rank0": RECV})
H("rank-paused", "SIGSTOP", "frozen_rank 4 1 2 0", R(1), STOP, True, "a rank is paused", {"rank1": "^T", "rank0": RECV, "rank2": RECV, "rank3": RECV})
H("rank-paused-copies", "SIGSTOP", "frozen_rank 3 2 0 1", R(2), STOP, True, "a rank is paused while its monitor child keeps copies", {"rank2": "^T", "rank0": RECV, "rank1": RECV})
H("rank-traced", "ptrace", "inspected", R(3), STOP + ["trac", "debug"], False, "a debugger has attached and keeps the rank", {"rank3": "^t", "inspector": "nanosleep", "rank0": RECV})
H("stage-event", "threading.Event", "stage_events 0 0", R(2), NOBODY + ["event"], True, "a prefetch thread ended before its reader", {"rank2": FUTEX, "rank0": RECV, "rank1": RECV, "rank3": RECV})
H("stage-event-busy", "threading.Event", "stage_events 3 1", R(2), NOBODY + ["event"], False, "the same with service threads and copies", {"rank2": FUTEX, "rank0": RECV, "rank1": RECV, "rank3": RECV})
H("name-silent", "udp recv", "name_query", out(), ANSWER + ["udp", "datagram"], False, "a name server never answers, the query is repeated", {"rank0": "~S", "rank1": RECV, "rank2": RECV})
H("retry-refused", "connect retry", "retry_forever", out(), ["refus", "connect", "retry", "nobody", "listen"], False, "a service that is not there, tried for ever", {"rank1": "~S clock_nanosleep|S nanosleep|S", "rank0": RECV, "rank2": RECV})
H("connect-silent", "tcp connect", "silent_connect", out(), ["connect", "SYN", "backlog"] + ANSWER, False, "a host whose backlog is full", {"rank2": "S connect", "rank0": RECV})
H("loader-decoder", "mp.Queue get", "loaders decoder 0", role("decoder3"), STOP, True, "the decoder of loader 3 is paused", {"main": "S read|S futex", "loader3": "S read .*pipe", "decoder3": "^T"})
H("loader-killed", "mp.Queue get", "loaders gone 2", role("loader1"), DEAD + ["killed", "loader", "worker"], False, "loader 1 was killed and its indices are lost", {"main": "S read|S futex", "loader1": "^Z|gone", "loader0": "S read|S futex"})
H("slots-lost", "mp.Semaphore", "np_shards", cyc("rank1", "loader1"), CIRCLE + ["semaphore", "slot", "never"], True, "slots of a shared ring were not given back", {"rank1": FUTEX, "loader1": FUTEX, "rank0": RECV}, ["numpy"])
H("zmq-both-recv", "zmq recv", "zq_pair", cyc("rank0", "rank1"), CIRCLE + ["recv", "poll", "zmq", "message"], False, "both ends of a ZeroMQ pair receive", {"rank0": "S poll", "rank1": "S poll", "rank2": RECV}, ["zmq"])
H("zmq-full", "zmq send full", "zq_push", R(2), LOCK + DEAD, False, "the puller wants a lock that an ended thread kept", {"rank2": FUTEX, "rank0": "S poll", "rank1": "S poll"}, ["zmq"])
H("rpc-handler", "grpc call", "rpc_serve", R(2), NOBODY + ["condition", "notif", "handler", "server", "grpc"], False, "handlers of a gRPC service wait for a note", {"rank0": "S", "rank1": "S", "rank2": "*S futex"}, ["grpc"])
H("getter-silent", "pipe empty", "shard_tool", out(), ANSWER, False, "a rank waits for its loader, that for a tool, that for a silent server", {"rank2": "S read|S futex", "loader2": "S read .*pipe", "getter2": RECV, "rank0": RECV})
H("ckpt-writer", "threading.Lock", "async_ckpt", R(0), LOCK + ["queue", "full"] + NOBODY, False, "the asynchronous writer of checkpoints has failed", {"rank0": FUTEX, "rank1": RECV})
H("signal-wait", "sigwait", "two_inputs", R(2), NOBODY + ["signal"], False, "a rank waits for a signal from a person or a scheduler", {"rank2": "S sigtimedwait|S rt_sig|S", "rank1": "select", "rank0": RECV})
H("lock-and-pair", "lock and socket", "lock_and_sock", cyc("rank0", "rank1"), CIRCLE + LOCK, True, "a lock of multiprocessing kept over a receive", {"rank0": RECV, "rank1": FUTEX})
H("two-levels", "semaphore", "eight_ranks", R(6), NOBODY + ["semaphore", "lock"], True, "a slot leak in one of eight ranks with sums in two levels", {"rank6": FUTEX, "rank0": RECV, "rank4": RECV, "rank7": RECV, "rank3": RECV})
H("no-steps", "queue get", "unflushed", R(1), QUEUE, False, "a job that prints no steps; the list of shards is used up", {"rank1": FUTEX, "rank0": RECV})
H("c-abba", "pthread mutex", native(3, ["{bin}/table_locks"]), cyc("rank1"), LOCK + CIRCLE, True, "two mutexes in opposite order in a C library", {"rank1": FUTEX, "rank0": "S read", "rank2": "S read"})
H("c-rwlock", "pthread rwlock", native(1, ["{bin}/rw_writer"]), R(0), LOCK + NOBODY + ["pipe", "writer"], True, "a reload thread keeps the write lock and reads an own pipe", {"rank0": FUTEX})
H("c-cond", "pthread cond", native(3, ["{bin}/lost_signal"]), R(2), NOBODY + ["condition", "signal", "notif"], False, "the signal came before the wait", {"rank2": FUTEX, "rank0": "S read"})
H("c-team", "pthread barrier", native(1, ["{bin}/team"]), R(0), NOBODY + ["barrier", "thread"], True, "a thread of a team has returned", {"rank0": FUTEX})
H("c-shm-mutex", "shared mutex", native(4, ["{bin}/shm_mutex"], keep=True), R(1), DEAD + LOCK, True, "a rank was killed inside a mutex shared by all", {"rank0": FUTEX, "rank2": FUTEX, "rank3": FUTEX, "rank1": "gone|^Z"})
H("c-eventfd", "eventfd", native(4, ["{bin}/shm_sem"]), R(2), NOBODY + ["eventfd"], True, "a shared semaphore is posted by a rank that reads an own eventfd", {"rank0": FUTEX, "rank2": "S read", "rank1": "S read"})
H("c-sysv", "sysv message", native(3, ["{bin}/sysv_sem"]), R(2), NOBODY + ["message", "msgrcv"], False, "the child that sent the messages has ended", {"rank0": "S sem", "rank2": "S msgrcv", "rank1": "S read"})
H("c-posix-mq", "mq_receive", native(3, ["{bin}/posix_mq"]), R(1), NOBODY + ["message queue", "mq", "queue"], True, "the child that fed the queue has ended", {"rank1": "S mq_timedreceive", "rank0": "S read"})
H("c-futex-page", "shared futex", native(4, ["{bin}/futex_page"]), R(3), NOBODY + ["signal", "sigsuspend", "pause"], False, "a futex barrier; one rank waits for a signal", {"rank3": "S sigsuspend", "rank0": FUTEX, "rank1": FUTEX})
H("c-spin-page", "spin flag", native(3, ["{bin}/spin_page"]), role("helper0", 0), SLEEP + ["pipe", "child", "helper"], False, "ranks spin on a rank that reads from a sleeping child", {"rank0": "S read .*pipe", "rank1": "R", "rank2": "R", "helper0": "nanosleep"})
H("c-pipe-ring", "pipe full", ["{bin}/pipe_ring"], cyc("worker0", "worker1", "worker2"), CIRCLE + ["pipe", "full", "write"], True, "forked workers write large blocks before they read", {"worker0": "S write .*pipe", "worker1": "S write .*pipe", "worker2": "S write .*pipe", "main": "S wait4"})
H("c-own-drain", "pipe full", native(3, ["{bin}/write_behind"]), cyc("rank2"), LOCK + CIRCLE + ["pipe", "full"], True, "the thread that should empty the pipe wants the writer's mutex", {"rank2": "S write .*pipe", "rank0": "S read"})
H("c-poll-own", "poll", native(3, ["{bin}/poll_pair"]), R(1), NOBODY + ["itself", "own", "poll", "timer"], False, "poll over an own socket pair and a timer that is not armed", {"rank1": "poll", "rank0": "S read"})
H("rust-channel", "mpsc recv", native(1, ["{bin}/chan_keep"]), R(0), NOBODY + ["channel", "itself"], True, "a receiver keeps the last sender itself", {"rank0": FUTEX}, ["rustc"])
H("rust-abba", "rust Mutex", native(1, ["{bin}/two_maps"]), cyc("rank0"), LOCK + CIRCLE + ["futex"], False, "two maps locked in opposite order", {"rank0": FUTEX}, ["rustc"])
H("go-channel", "go channel", native(1, ["{bin}/chan_nobody"]), R(0), NOBODY + ["channel", "goroutine", "futex", "all threads"], False, "the receiver has returned, a ticker lives on", {"rank0": "~S"}, ["go"])
H("go-abba", "go mutex", native(3, ["{bin}/go_ranks"]), R(1), LOCK + CIRCLE + NOBODY + ["goroutine", "futex"], False, "two mutexes in opposite order in goroutines", {"rank0": "~S", "rank1": "~S", "rank2": "~S"}, ["go"])
H("node-atomics", "Atomics.wait", native(1, ["node", "{here}/programs/atomics_wait.js"]), R(0), NOBODY + CIRCLE + ["futex", "worker", "Atomics", "message"], False, "main waits for its worker, the worker for a message", {"rank0": FUTEX}, ["node"])
H("node-tool", "child exit", native(1, ["node", "{here}/programs/child_stdin.js"]), cyc("rank0", "tool0"), CIRCLE + ["pipe", "stdin", "child", "input"], False, "a tool waits for the end of its input", {"rank0": "S epoll_wait", "tool0": "S read"}, ["node"])
H("mpi-order", "mpi ssend", ["mpiexec", "-n", "3", "{python}", "{here}/programs/mpi_sum.py", "order"], cyc("rank0", "rank1"), CIRCLE + ["send", "MPI"], False, "two MPI ranks send to each other without a receive", {"rank0": "R", "rank1": "R", "rank2": "R"}, ["mpi4py", "mpiexec"])
H("mpi-queue", "queue get", ["mpiexec", "-n", "3", "{python}", "{here}/programs/mpi_sum.py", "queue"], R(1), QUEUE, False, "an MPI rank waits at an empty queue, the others spin", {"rank0": "R", "rank1": FUTEX, "rank2": "R"}, ["mpi4py", "mpiexec"])
H("ring-order-plain", "tcp recv", "ring_order 5 0 0", cyc("rank0", "rank1", "rank2", "rank3", "rank4"), CIRCLE + ["recv"], True, "the same in five ranks without any other thread", {"rank%d" % i: RECV for i in range(5)})
