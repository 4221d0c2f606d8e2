"""What is true of each program of programs5; `cases5.py` as a program writes truth5.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h5-", "programs5")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet

# Ranks, servers of parameters, queues
hang("butterfly-notify", "condition", "h5_butterfly_notify.py", ranks(5), "condition|wait|notif|thread|" + NEVER,
     "the loading thread of rank 5 has ended, eight ranks reduce by recursive doubling",
     {"rank5": "futex@next ", "rank4": "recvfrom>rank5", **all_of(8, "recvfrom", 4, 5)})
hang("mesh-large", "unix send", "h5_mesh_large.py", cycle("rank0", "rank1"), CIRCLE + "|send|full|unix",
     "everyone sends a large table to everyone before it receives; ranks 0 and 1 send to each other, 2 and 3 to rank 0",
     {"rank0": "sendto>rank1", "rank1": "sendto>rank0", "rank2": "sendto>rank0", "rank3": "sendto>rank0"},
     also=[cycle("rank0", "rank1", "rank2", "rank3")])
hang("ssp-left", "tcp recv", "h5_ssp_left.py", ranks(3), GONE + "|stale|clock",
     "worker 3 has left with 0; the server lets nobody be more than two steps ahead of it",
     {"rank3": "gone", "server": "*futex", **all_of(5, "recvfrom>server", 3)}, gone=True)
hang("ps-thread-died", "tcp recv", "h5_ps_thread_died.py", role("server"), "server|thread|recv|tcp|accept|" + NEVER,
     "the server's thread for rank 1 has failed, its socket stays open; ranks 0 and 2 wait for rank 1",
     {"rank1": "recvfrom>server", "rank0": "recvfrom>rank1", "rank2": "recvfrom>rank1", "server": "accept"}, also=[ranks(1)])
hang("joinable-lost", "mp queue", "h5_joinable_lost.py", role("lost"), GONE + "|task_done|join|queue",
     "a consumer has left with 0 between get() and task_done(), join() never returns",
     {"lost": "gone", "main": "futex@join .*queues"}, gone=True)
hang("queue-reader-killed", "mp queue", "h5_queue_reader_killed.py", role("worker0"), "killed|SIGKILL|died|dead|gone|ended|lost|lock|abandon",
     "worker 0 was killed in get() with the queue's lock, which the others want",
     {"worker0": "gone", "worker1": "futex@get .*queues", "worker2": "futex@get .*queues", "main": "read"}, gone=True)
hang("shm-producer", "mp semaphore", "h5_shm_producer.py", role("producer"), GONE + "|semaphore|" + NEVER,
     "the producer of a ring in shared memory has left with 0 at a corrupt video",
     {"producer": "gone", "main": "futex@main "}, gone=True, also=[{"nobody": NEVER}])
hang("initializer", "lock file", "h5_initializer.py", cycle("main", "worker"), CIRCLE + r"|lock|sleep|vocab|retr|future|result",
     "workers want a lock file that the parent removes after their first result", {"main": "futex@result ", "worker": "~nanosleep@load "},
     also=[role("worker"), role("main"), outside(r"vocab\.lock")])
hang("pool-sysexit", "mp pool", "h5_pool_sysexit.py", role("lost"), GONE + "|exit|" + NEVER,
     "a pool's worker has left by sys.exit in its task; the pool has a new one, the task is lost",
     {"lost": "gone", "main": "futex@next "}, gone=True, also=[role("main")])
hang("conn-protocol", "unix recv", "h5_conn_protocol.py", cycle("main", "evaluator"), CIRCLE + "|recv|unix|socket|pipe",
     "after a reload the search waits for a greeting, the evaluator for the settings", {"main": "read>evaluator", "evaluator": "read>main"},
     also=[role("main"), role("evaluator")])
hang("manager-queue", "mp manager", "h5_manager_queue.py", role("consumer"), GONE + "|full|put|queue|" + NEVER,
     "the only consumer of a Manager's queue has left with 0, producers wait for room",
     {"consumer": "gone", "producer0": "read>manager", "producer1": "read>manager", "main": "wait4>producer0"}, gone=True, also=[role("manager")])
hang("two-queues-full", "queue put", "h5_two_queues_full.py", role("main"), "queue|put|full|" + CIRCLE,
     "main puts jobs and reads results later; both queues are full", {"main": "*futex@put .*queue"})
hang("aio-off-by-one", "asyncio", "h5_aio_off_by_one.py", ranks(0), "asyncio|event|epoll|task|" + NEVER,
     "rank 0 waits for the hello of four ranks and counts itself", {"rank0": "epoll", **all_of(4, "recvfrom>rank0", 0)})
hang("aio-threadsafe", "asyncio", "h5_aio_threadsafe.py", role("main"), "asyncio|event loop|itself|future|result|block|" + CIRCLE,
     "the loop's thread waits for a result that only the loop could make", {"main": "futex@get .*h5_aio"})
hang("tar-pipeline", "fifo open", "h5_tar_pipeline.py", role("unpacker"), r"fifo|volume|open|writer|nobody",
     "an unpacker behind tar and zstd waits for an answer by a FIFO", {"main": "wait4", "unpacker": "openat wait_for_partner"},
     needs=["zstd", "tar", "bash"], also=[outside(r"volume\.answer")])
hang("pager-pty", "terminal", "h5_pager_pty.py", cycle("rank0", "tool"), CIRCLE + "|terminal|tty|pty|read|key|input",
     "a tool on a pseudo terminal of rank 0 waits for a key after a page, rank 0 for more text",
     {"rank0": "read@model_text", "tool": "read", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0", "rank3": "recvfrom"}, also=[ranks(0), role("tool")])

# FIFOs, locks of files, servers, ZeroMQ, gRPC, MPI, C, C++
hang("fifo-order", "fifo open", "h5_fifo_order.py", cycle("main", "actor"), CIRCLE + "|fifo|open|reader",
     "actor and learner each open their own FIFO for writing first", {"main": "openat wait_for_partner", "actor": "openat wait_for_partner"},
     also=[role("actor"), role("main"), outside(r"(actor|learner)\.fifo")])
hang("ofd-upgrade", "posix lock", "h5_ofd_upgrade.py", cycle("rank0", "rank1"), CIRCLE + "|lock",
     "ranks 0 and 1 have a shared lock of an open file and want the exclusive one",
     {"rank0": "fcntl", "rank1": "fcntl", "rank2": "recvfrom>rank0"})
hang("excl-collective", "lock file", "h5_excl_collective.py", ranks(1), r"lock|tokenizer|recv|tcp|reduce|" + CIRCLE,
     "rank 1 is in a reduce with the lock file that the others look for first",
     {"rank1": "recvfrom>rank0@reduce ", **all_of(4, "~nanosleep@cache_lock ", 1)},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2", "rank3")])
hang("http-keepalive", "http", "h5_http_keepalive.py", cycle("rank0", "rank1", "server"), CIRCLE + "|recv|http|tcp|keep|server|socket",
     "the server of one thread reads from rank 0's kept connection; rank 1 waits for the server, rank 0 for rank 1",
     {"rank0": "recvfrom>rank1", "rank1": "recvfrom", "server": "recvfrom>rank0"},
     also=[role("server"), cycle("rank0", "rank1"), cycle("rank0", "server"), ranks(0)])
hang("kv-abba", "tcp recv", "h5_kv_abba.py", cycle("rank0", "rank1"), CIRCLE + "|lock|server|recv|tcp",
     "ranks 0 and 1 lock two tables of a lock service in opposite order",
     {"rank0": "recvfrom>server", "rank1": "recvfrom>server", "rank2": "recvfrom>rank0", "server": "*futex@attend "},
     also=[role("server")])
hang("zmq-req-lost", "zeromq", "h5_zmq_req_lost.py", role("scorer1"), GONE + "|zmq|zeromq|poll|repl|" + NEVER,
     "the scorer that had the request was killed and replaced, nobody will answer", {"scorer1": "gone", "main": "poll", "scorer2": "poll"},
     needs=["zmq"], gone=True, also=[role("scorer2"), role("main"), ranks(0), cycle("main", "scorer2")])
hang("zmq-push-stopped", "zeromq", "h5_zmq_push_stopped.py", role("collector"), "stopped|SIGSTOP|suspended", "the collector of a push socket is stopped",
     {"collector": "stopped", **all_of(3, "poll")}, needs=["zmq"])
hang("grpc-rendezvous", "grpc", "h5_grpc_rendezvous.py", role("server"), "server|barrier|grpc|thread|pool|lock",
     "a barrier for four in a server of two threads", {"server": "*futex@join ", **all_of(4, "~futex|epoll@train ")}, needs=["grpc"])
hang("mpi-split", "mpi", "4 h5_mpi_split.py", cycle("rank0", "rank1", "rank2", "rank3"), CIRCLE + "|allreduce|collective|order",
     "rows and columns are reduced in different orders", all_of(4, "spin"), needs=["mpi4py", "mpiexec"])
hang("mpi-root", "mpi", "4 h5_mpi_root.py", ranks(3), "bcast|broadcast|allgather|collective|root|not in|elsewhere", "rank 3 broadcasts from another root",
     {"rank1": "spin", "rank2": "spin"}, needs=["mpi4py", "mpiexec"])
hang("mpi-ssend", "mpi", "h5_mpi_ssend.py", cycle("rank0", "rank1", "rank2"), CIRCLE + "|send", "all send to the right before they receive, in C",
     all_of(3, "spin"), needs=["mpicc", "mpiexec"])
hang("mpi-child", "mpi", "3 h5_mpi_child.py", role("converter14"), "child|sleep|converter|file|calibration|wait",
     "a child of rank 1 looks for a file that nobody writes; ranks 0 and 2 wait in MPI",
     {"converter14": "~nanosleep", "rank1": "wait4>converter14", "rank0": "spin", "rank2": "spin"}, needs=["mpi4py", "mpiexec"], also=[ranks(1)])
hang("join-circle", "thread join", "h5_join_circle.c", role("main"), CIRCLE + "|join", "three threads join each other in a circle",
     {"main": "*futex"}, proved=True)
hang("pipe-ranks", "pipe", "h5_pipe_ranks.c", ranks(2), "semaphore|sem_wait|futex|lock|thread|" + NEVER,
     "the thread of rank 2 that posts has ended; a ring of pipes between forked ranks",
     {"rank2": "futex", "rank3": "read>rank2", "rank0": "read>rank3", "rank1": "read>rank0"}, also=[role("rank2")])
hang("fork-mutex", "fork", "h5_fork_mutex.cpp", role("child"), "fork|mutex|lock|inherit", "a child was forked while a thread had a std::mutex",
     {"child": "futex", "main": "wait4>child"})
hang("pool-destructor", "condition", "h5_pool_destructor.cpp", role("main"), "cond|wait|join|notif|thread|" + NEVER,
     "a pool's thread waits for a notification that was given before", {"main": "*futex"})
hang("once-circle", "mutex", "h5_once_circle.cpp", role("main"), CIRCLE + "|once|futex|lock", "two std::call_once need each other", {"main": "*futex"})

# Rust, Go, Node, Java, Perl, bash, small C programs, and more ranks
hang("stages-rs", "channel", "h5_stages.rs", role("main"), CIRCLE + "|channel|send|futex|full|thread", "two bounded channels in both directions are full", {"main": "*futex"})
hang("child-wait-rs", "child", "h5_child_wait.rs", cycle("main", "tool"), CIRCLE + "|pipe|full|write|child",
     "the parent waits for the tool's end before it reads its output, which fills the pipe", {"main": "wait4|waitid|poll", "tool": "write>main"},
     needs=["setpriv"], also=[role("main"), role("tool")])
hang("rpc-back", "go", "3* h5_rpc_back.go", cycle("rank0", "rank1"), CIRCLE + "|mutex|lock|rpc|goroutine|futex|" + NEVER,
     "rank 0 asks rank 1 under its lock, rank 1's handler asks rank 0", all_of(3, "*~futex|epoll"), also=[ranks(0), role("rank0", 0)])
hang("cond-go", "go", "h5_cond.go", role("main"), "cond|wait|futex|goroutine|" + NEVER, "a reader left without a Signal, writer and reader wait", {"main": "*~futex"})
hang("drain-js", "node", "h5_drain.js", cycle("main", "child"), CIRCLE + "|pipe|full|write|socket|unix",
     "rows are sent to a child whose answers are read later", {"main": "epoll", "child": "write>main"}, needs=["setpriv"], also=[role("main"), role("child")])
hang("workers-js", "node", "h5_workers.js", role("worker1"), "epoll|event loop|idle|answer|message|recv|unix|socket|" + CIRCLE + "|" + NEVER,
     "worker 1 swallowed an error and never answers", {"main": "epoll", "worker1": "epoll", "worker0": "epoll"}, also=[cycle("main", "worker1"), role("main"), ranks(0)])
hang("transfers-java", "mutex", "h5_Transfers.java", role("main"), CIRCLE + "|lock|monitor|synchronized|futex", "two threads take two monitors in opposite order",
     {"main": "*~futex"}, needs=["java", "javac"])
hang("open2-perl", "pipe", "h5_open2.pl", cycle("main", "sort"), CIRCLE + "|pipe|read|stdin", "sort waits for the end of its input, the parent for its answer",
     {"main": "read>sort", "sort": "read>main"}, needs=["perl", "setpriv"], also=[role("main"), role("sort")])
hang("coproc", "pipe", "h5_coproc.sh", cycle("main", "awk"), CIRCLE + "|pipe|read|buffer", "awk keeps its answer in its buffer, bash waits for it",
     {"main": "read>awk", "awk": "read>main"}, needs=["bash", "awk", "setpriv"], also=[role("main"), role("awk")])
hang("flock-inherited", "flock", "h5_flock_inherited.sh", role("daemon"), r"flock|lock|data\.lock", "a daemon has inherited the lock's descriptor and keeps the lock",
     {"daemon": "accept", "launcher": "wait4"}, needs=["bash", "flock"])
hang("jobserver", "pipe", "h5_jobserver.py", role("builder0"), GONE + "|pipe|token|itself|" + NEVER, "two builders left with 0 and kept their tokens, the third waits for one",
     {"builder0": "gone", "builder1": "gone", "builder2": "read"}, gone=True, also=[role("builder1"), role("builder2"), {"nobody": NEVER}])
hang("timerfd", "timerfd", "h5_timerfd.c", role("main"), "timer|disarm|switched off|" + NEVER, "a timer is switched off by setting it", {"main": "read"})
hang("usr1-lost", "pause", "h5_usr1_lost.c", cycle("main", "solver"), CIRCLE + "|signal|pause|" + NEVER, "a signal came before the pause, both wait for one",
     {"main": "pause", "solver": "pause"}, also=[role("main"), role("solver"), ranks(0)])
hang("epoll-edge", "epoll", "h5_epoll_edge.py", ranks(0), "epoll|unread|recv|tcp|socket|" + CIRCLE,
     "rank 0 leaves a part of rank 2's report unread and waits for the next edge", {"rank0": "epoll@collect ", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"},
     also=[cycle("rank0", "rank2")])
hang("queue-recreated", "queue get", "h5_queue_recreated.py", ranks(2), "queue|empty|get|" + NEVER, "rank 2 reads a new queue, its thread fills the old one",
     {"rank2": "futex@get .*queue", "rank0": "recvfrom>rank2", "rank3": "recvfrom>rank2", "rank1": "recvfrom"})
hang("barrier-parties", "mp barrier", "h5_barrier_parties.py", ranks(0, 1, 2), "barrier|parties|" + NEVER, "three ranks are at a barrier made for four",
     all_of(3, "futex@wait "), also=[role("launcher")])

# Services, files, signals, the end of a job
hang("daemon-pipe", "pipe", "h5_daemon_pipe.py", role("daemon"), "daemon|pipe|child|inherit|write end|accept",
     "rank 0 reads the output of a script that has ended to its end; a daemon still has the pipe",
     {"rank0": "poll|read", "daemon": "accept", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0", "rank3": "recvfrom"}, also=[ranks(0)])
hang("accept-never", "tcp recv", "h5_accept_never.py", role("server"), r"fifo|merges|open|accept|server|writer",
     "a service that listens waits for a FIFO and accepts nobody", {"server": "openat wait_for_partner", **all_of(4, "recvfrom")}, also=[outside(r"merges\.txt")])
hang("store-get", "thread join", "h5_store_get.py", ranks(6), "join|queue|thread|empty|" + NEVER,
     "rank 6 joins its saving thread, whose queue gets no end; seven ranks wait for a key in a store that idles",
     {"rank6": "futex@join ", "store": "epoll", **all_of(8, "recvfrom>store", 6)})
hang("lease-left", "tcp recv", "h5_lease_left.py", ranks(1), GONE + "|lease|semaphore|server|" + NEVER, "rank 1 left with 0 and has kept the lease of a service",
     {"rank1": "gone", "rank0": "recvfrom>server", "rank2": "recvfrom>server", "server": "*futex@attend "}, gone=True, also=[role("server")])
hang("xmlrpc-self", "http", "h5_xmlrpc_self.py", role("server"), "itself|server|recv|http|tcp|xmlrpc|" + CIRCLE,
     "a service of one thread asks itself for rank 1; the others wait for rank 1 or for the service",
     {"server": "recvfrom", "rank1": "recvfrom>server", "rank0": "recvfrom", "rank2": "recvfrom"})
hang("gil-held", "gil", "h5_gil_held.py", ranks(1), "GIL|interpreter|pause|native|lock", "a thread of rank 1 pauses in a native call with the interpreter's lock",
     {"rank1": "*pause", "rank0": "recvfrom>rank1", "rank3": "recvfrom>rank1", "rank2": "recvfrom"})
hang("value-lock", "mp lock", "h5_value_lock.py", role("worker1"), GONE + "|lock|abandon", "a worker left with 0 under the lock of a shared value",
     {"worker1": "gone", "worker0": "futex@parse ", "worker2": "futex@parse ", "main": "wait4>worker0"}, gone=True)
hang("seqlock", "spin", "h5_seqlock.py", ranks(0), "killed|" + GONE, "rank 0 was killed while it wrote, the counter in the mapped file is odd for ever",
     {"rank0": "gone", "rank1": "~nanosleep@snapshot ", "rank2": "~nanosleep@snapshot "}, gone=True, also=[role("rank0")])
hang("prompt-rank", "pipe", "h5_prompt_rank.py", ranks(1), "stdin|input|pipe|prompt|read|person|launcher", "rank 1 asks its input whether it may overwrite; that is a pipe of the launcher",
     {"rank1": "read>launcher", "rank0": "recvfrom>rank1", "rank3": "recvfrom>rank1", "rank2": "recvfrom"}, also=[role("launcher"), cycle("rank1", "launcher")])
hang("origin-silent", "http", "h5_origin_silent.py", role("origin"), "origin|server|lock|http|event|recv|" + NEVER,
     "the server of shards waits on a lock that its cleaner keeps for ever; rank 3's thread asks it",
     {"rank3": "futex@get .*queue", "origin": "*futex@clean ", "rank1": "recvfrom>rank3", "rank2": "recvfrom>rank3", "rank0": "recvfrom"})
hang("upload-stuck", "pipe", "h5_upload_stuck.py", role("bucket"), "bucket|queue|put|full|send|" + NEVER, "the bucket's server waits for a worker that was never started; rank 0 writes to its uploader",
     {"bucket": "futex@put .*queue", "uploader": "sendto>bucket", "rank0": "write>uploader", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"})
hang("ttin-stopped", "stopped", "h5_ttin_stopped.py", ranks(1), "stopped|SIGTTIN|suspended|terminal|tty", "rank 1 was stopped when it read the terminal in the background",
     {"rank1": "stopped", "rank0": "recvfrom>rank1", "rank2": "recvfrom>rank1"})
hang("buffer-fork", "fork", "h5_buffer_fork.py", role("worker"), "fork|lock|inherit|buffer", "the worker was forked while a thread wrote to the file that it writes to as well",
     {"worker": "futex@work ", "main": "wait4>worker"})
hang("atexit-join", "thread join", "h5_atexit_join.py", ranks(2), "join|thread|queue|atexit|exit|" + NEVER, "rank 2 joins a thread at its exit that gets no end",
     {"rank2": "futex@join ", "rank0": "gone", "rank1": "gone", "rank3": "gone"})
hang("sigchld", "child", "h5_sigchld.py", ranks(0), "child|wait4|SIGCHLD|signal|reap|cache|wait", "a signal handler of rank 0 waits for any child, and the only one is a server",
     {"rank0": "wait4>cacheserver@reap ", "rank1": "recvfrom>rank0", "cacheserver": "accept"}, also=[role("cacheserver"), cycle("rank0", "cacheserver")])
hang("mailbox-crash", "file", "h5_mailbox_crash.py", ranks(2), GONE + "|exit|crash|file|mail", "rank 2 has ended with 1 and said so in its log; the others look for its file",
     {"rank2": "gone", **all_of(4, "~nanosleep@reduce ", 2)}, gone=True, also=[role("rank2")])
hang("overshoot", "compute", "h5_overshoot.py", ranks(3), "loop|spin|anneal|busy|comput|work", "rank 3 computes in a loop whose condition never holds",
     {"rank3": "spin", "rank1": "recvfrom>rank3", "rank2": "recvfrom>rank3", "rank0": "recvfrom"})
hang("listdir-stale", "file", "h5_listdir_stale.py", ranks(0, 1, 2, 3), r"ready|listdir|sleep|file|" + NEVER, "all ranks wait for exactly four files where there are eight",
     all_of(4, "~nanosleep@train "), also=[outside("ready")])
hang("inotify", "inotify", "h5_inotify.py", ranks(0), r"inotify|file|tokenizer|prepared|" + GONE, "rank 0 waits by inotify for a file that was written under another name",
     {"rank0": "read", "prepare": "gone", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0", "rank3": "recvfrom>rank0"}, also=[outside("prepared|tokenizer"), role("prepare")])
hang("group-order", "tcp recv", "h5_group_order.py", cycle("rank0", "rank2"), CIRCLE + "|recv|tcp|order", "rank 2 reduces two groups in another order than rank 0",
     {"rank0": "recvfrom>rank2", "rank2": "recvfrom>rank0", "rank1": "recvfrom>rank0", "rank3": "recvfrom>rank0"}, also=[ranks(2), ranks(0)])
hang("token-lost", "unix recv", "h5_token_lost.py", cycle("rank0", "rank1", "rank2", "rank3", "rank4"), CIRCLE + "|token|datagram|recv|socket|unix|" + NEVER,
     "rank 1 has dropped the token that all five wait for", all_of(5, "recvfrom"), also=[ranks(1), ranks(0, 1, 2, 3, 4)])
hang("register-lock", "flock", "h5_register_lock.py", cycle("rank0", "rank1", "rank2"), CIRCLE + "|lock",
     "rank 0 reads rank 1's name, rank 1 wants the lock of rank 2, and rank 2 waits to be accepted by rank 0",
     {"rank0": "read>rank1", "rank1": "flock>rank2", "rank2": "read"}, also=[cycle("rank1", "rank2"), ranks(2)])
hang("spawn-sentinel", "mp queue", "h5_spawn_sentinel.py", role("consumer2"), "queue|get|read|pipe|sentinel|" + CIRCLE + "|" + NEVER, "the third consumer gets neither work nor an end, main joins it",
     {"consumer0": "gone", "consumer1": "gone", "consumer2": "read", "main": "wait4>consumer2"}, also=[role("main"), cycle("main", "consumer2"), ranks(0)])
hang("manager-flock", "flock", "h5_manager_flock.py", cycle("merger", "compactor"), CIRCLE + "|lock", "two workers take a Manager's lock and a file's in opposite order",
     {"merger": "flock>compactor", "compactor": "read>manager", "main": "wait4"}, also=[cycle("merger", "compactor", "manager"), role("merger")])
hang("exit-nondaemon", "thread join", "h5_exit_nondaemon.py", ranks(1), "join|thread|exit|shutdown|recv|tcp|control", "rank 1 has ended its work, and a thread of it still listens to a service",
     {"rank1": "futex@_shutdown ", "rank0": "gone", "rank2": "gone", "control": "accept"}, also=[role("control")])
hang("fuse-silent", "fuse", "h5_fuse_silent.py", role("objects"), "fuse|objects|server|accept|recv|tcp|mount|dataset",
     "the daemon of a FUSE mount waits for a store that accepted and says nothing; rank 1 opens a file there",
     {"rank1": "request_wait_answer|openat|newfstatat", "fused": "recvfrom>objects", "objects": "accept", "rank0": "recvfrom>rank1", "rank3": "recvfrom>rank1"}, also=[role("fused")], root=True)

# Bars, databases, topics, outputs
hang("uneven-tqdm", "tcp recv", "h5_uneven_tqdm.py", ranks(3), "recv|reduce|unix|tcp|not in|elsewhere|valid|batch|" + CIRCLE,
     "rank 3 has one batch less and is in the exchange behind the epoch, the others in the reduce",
     {"rank3": "recvfrom>rank0@everyone|train", "rank2": "recvfrom>rank3", "rank0": "recvfrom>rank2", "rank1": "recvfrom>rank3"},
     needs=["tqdm"], also=[cycle("rank0", "rank2", "rank3"), cycle("rank0", "rank1", "rank2", "rank3")])
hang("sqlite-cursor", "sqlite", "h5_sqlite_cursor.py", cycle("main", "writer"), CIRCLE + r"|lock|sqlite|trials\.db|recv|database",
     "main reads a query's rows and waits for a writer of the same database, which waits for the end of the query",
     {"main": "read>writer", "writer": "~nanosleep@write "}, also=[role("main"), role("writer"), outside(r"trials\.db")])
hang("zmq-topic", "zeromq", "h5_zmq_topic.py", ranks(2), "zmq|zeromq|recv|poll|topic|" + CIRCLE + "|" + NEVER, "rank 2 waits for a topic that nobody publishes, rank 0 for rank 2",
     all_of(4, "poll"), needs=["zmq"], also=[cycle("rank0", "rank2"), ranks(0)])
hang("rwlock-channel", "rwlock", "h5_rwlock_channel.rs", role("main"), CIRCLE + "|lock|rwlock|channel|recv|futex|thread",
     "main keeps a lock for reading and waits for a thread that wants it for writing", {"main": "*futex"})
hang("archiver-stopped", "stopped", "h5_archiver_stopped.py", role("archiver"), "stopped|SIGSTOP|suspended", "the reader at the end of rank 0's pipe and FIFO is stopped",
     {"archiver": "stopped", "gzip": "write>archiver", "rank0": "write>gzip", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0", "rank3": "recvfrom"},
     needs=["gzip"])
hang("capture-order", "pipe", "h5_capture_order.py", cycle("launcher", "rank3"), CIRCLE + "|pipe|full|write|output",
     "rank 3 fills the pipe of its output, and the launcher reads that of rank 0 to its end first",
     {"rank3": "write>launcher", "launcher": "read>rank0", "rank2": "recvfrom>rank3", "rank1": "recvfrom>rank3", "rank0": "recvfrom"},
     also=[role("launcher"), ranks(3), cycle("launcher", "rank0", "rank3"), cycle("launcher", "rank0", "rank2", "rank3"), role("rank3", 3)])

# Healthy ones
quiet("q-compile", "tcp recv", "h5_q_compile.py", 72, "a child of rank 0 builds for 66 s, the others wait for it", "extensions are built")
quiet("q-upload", "pipe", "h5_q_upload.py", 74, "an uploader takes 3 KB a second for 70 s", "checkpoint into a slow uploader")
quiet("q-download", "http", "h5_q_download.py", 74, "200 bytes every 0.5 s for 70 s", "slow download by rank 2")
quiet("q-eval-pool", "mp pool", "h5_q_eval_pool.py", 67, "a pool of rank 1 computes for 60 s", "evaluation in worker processes")
quiet("q-poll-limit", "sleep", "h5_q_poll_limit.py", 84, "ranks look for a file for at most 80 s", "optional teacher")
quiet("q-xmlrpc-idle", "accept", "h5_q_xmlrpc_idle.py", 78, "the next question comes after 75 s", "XML-RPC service")
quiet("q-naps", "sleep", "h5_q_naps.sh", 109, "sleeps of 36 s", "collector of metrics in bash", needs=["bash"])
quiet("q-backpressure", "mp queue", "h5_q_backpressure.py", 90, "each batch takes 18 s", "slow consumer of a bounded queue")
quiet("q-drain", "mp queue", "h5_q_drain.py", 74, "30 results are written, 2.4 s each", "queue that is emptied at the end")
quiet("q-backoff", "connect", "h5_q_backoff.py", 66, "the server is there after 50 s, pauses grow to 32 s", "retry with growing pauses")
quiet("q-shell", "terminal", "h5_q_shell.py", 74, "nobody types for 70 s", "interactive shell", needs=["bash"])
quiet("q-kdf", "future", "h5_q_kdf.py", 70, "a thread computes in native code for 64 s", "keys are derived")
quiet("q-aio-idle", "asyncio", "h5_q_aio_idle.py", 75, "the next request comes after 72 s", "asyncio service")
quiet("q-aio-child", "asyncio", "h5_q_aio_child.py", 71, "a child computes for 68 s", "asyncio with a tool")
quiet("q-zmq-rep", "zeromq", "h5_q_zmq_rep.py", 68, "the reply takes 66 s", "ZeroMQ solver", needs=["zmq"])
quiet("q-zmq-push", "zeromq", "h5_q_zmq_push.py", 79, "a message each 2.5 s", "slow sink behind ZeroMQ", needs=["zmq"])
quiet("q-grpc-slow", "grpc", "h5_q_grpc_slow.py", 68, "one call computes for 65 s", "long gRPC call", needs=["grpc"])
quiet("q-grpc-stream", "grpc", "h5_q_grpc_stream.py", 89, "a message each 22 s", "slow gRPC stream", needs=["grpc"])
quiet("q-mpi-master", "mpi", "3 h5_q_mpi_master.py", 65, "rank 1 computes for 62 s, rank 0 probes, rank 2 has no work", "MPI master and workers", needs=["mpi4py", "mpiexec"])
quiet("q-ticker", "go", "h5_q_ticker.go", 68, "a ticker of 34 s", "Go service")
quiet("q-wait-timeout", "condition", "h5_q_wait_timeout.rs", 66, "waits of 33 s with a limit", "Rust buffer that is flushed")
quiet("q-http-idle", "node", "h5_q_http_idle.js", 70, "the next request comes after 68 s", "HTTP server in Node")
quiet("q-kv-lock", "tcp recv", "h5_q_kv_lock.py", 69, "rank 0 computes for 66 s with the lease that rank 1 waits for", "lock service")
quiet("q-pipeline", "pipe", "h5_q_pipeline.sh", 109, "a consumer takes 64 KB each 2 s", "tar, zstd and a slow consumer", needs=["tar", "zstd", "bash"])
quiet("q-stagger", "sleep", "h5_q_stagger.py", 76, "ranks sleep 24, 48 and 72 s", "staggered start")
quiet("q-barrier-limit", "mp barrier", "h5_q_barrier_limit.py", 75, "rank 2 reads for 70 s, the others are at a barrier with a limit", "late rank")
quiet("q-flock-wait", "flock", "h5_q_flock_wait.sh", 65, "the lock's holder computes for 64 s", "flock in bash", needs=["flock", "bash"])
quiet("q-countdown", "select", "h5_q_countdown.py", 73, "waits 70 s for a key, with a limit", "countdown before the training")
quiet("q-gemm", "udp recv", "h5_q_gemm.py", 68, "rank 1 multiplies for 64 s", "tuning on one rank", needs=["numpy"])
quiet("q-excl-progress", "lock file", "h5_q_excl_progress.py", 70, "rank 0 works for 65 s under the lock file", "vocabulary")
quiet("q-shm-poll", "spin", "h5_q_shm_poll.py", 64, "the producer computes for 62 s", "polled shared memory")
quiet("q-three-hops", "pipe", "h5_q_three_hops.py", 67, "a service at the end of the chain computes for 65 s", "chain of processes")
quiet("q-log-file", "tcp recv", "h5_q_log_file.py", 68, "steps of 0.22 s, told to a log file", "steps that are not printed")
quiet("q-threads", "barrier", "h5_q_threads.cpp", 67, "a thread computes for 20 and 45 s, the others are at a barrier", "C++ factorization")
quiet("q-fifo-stage", "fifo", "h5_q_fifo_stage.py", 86, "a frame each 21 s", "slow decoder behind a FIFO")
quiet("q-future-limit", "future", "h5_q_future_limit.py", 76, "waits 72 s with a limit", "a replica is left out")
quiet("q-tqdm-eval", "tcp recv", "h5_q_tqdm_eval.py", 72, "rank 0 evaluates for 69 s, the others wait for it", "bar of slow parts", needs=["tqdm"])

if __name__ == "__main__":
    BOOK.write("truth5.json")
