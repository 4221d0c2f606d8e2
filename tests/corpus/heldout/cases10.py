"""What is true of each program of programs10; `cases10.py` as a program writes truth10.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h10-", "programs10")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
NOBODY = {"nobody": NEVER}
POLL = "poll|sleep|loop|retr|"
TCP = "recv|read|tcp|not in|elsewhere|"
FUTEX = "futex|lock|mutex|thread|wait|"

# Ranks in Python
hang("sequence", "shared memory", "h10_sequence.py", ranks(2), POLL + "shm|shared|memory|" + GONE + "|" + NEVER,
     "rank 2 has counted one call more than the others, who have ended; it looks for their numbers in shared memory",
     {"rank0": "gone", "rank1": "gone", "rank2": "~nanosleep@reduce"}, also=[NOBODY, ranks(0, 1)])
hang("smaller-batch", "tcp recv", "h10_smaller_batch.py", ranks(3), TCP + "short|fewer|size|bytes|" + CIRCLE, "rank 3 sends fewer bytes than rank 0 reads",
     {"rank0": "recvfrom>rank3", **all_of(4, "recvfrom>rank0", 0)}, also=[cycle("rank0", "rank3")])
hang("file-store", "sleep loop", "h10_file_store.py", outside(r"rendezvous_store"), POLL + "store|file|join|never|stale|old", "the ranks wait for a count of 3, the file of the run before made it 6",
     all_of(3, "~nanosleep|flock"), also=[NOBODY, ranks(0, 1, 2)])
hang("generate", "tcp recv", "h10_generate.py", ranks(1), TCP + "behind|earlier|left|" + CIRCLE, "rank 1 has ended its text before the others and sends its reward; they want its part of the ring",
     {"rank0": "recvfrom", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank1", "rank3": "recvfrom>rank2"},
     also=[cycle("rank0", "rank1", "rank2", "rank3"), cycle("rank0", "rank1")])
hang("store-gone", "retries", "h10_store_gone.py", ranks(0), POLL + "connect|refused|store|" + GONE, "the store was a thread of rank 0, which has ended; ranks 1 and 2 try to reach it",
     {"rank0": "gone", "rank1": "~nanosleep@ask", "rank2": "~nanosleep@ask"}, gone=True, also=[NOBODY, outside(r"refused|nobody listens|no listener")])
hang("exit-thread", "thread join", "h10_exit_thread.py", ranks(1), "queue|get|thread|daemon|exit|shutdown|futex|lock|end", "rank 1 is done, a thread of it that is no daemon waits for values",
     {"rank0": "gone", "rank1": "futex@_shutdown|reporter", "rank2": "gone"})
hang("baton", "sleep loop", "h10_baton.py", outside(r"fused_adam|\block\b file|/lock\b"), POLL + "lock|exist|stale|left|file|never", "a file `lock` of a killed compilation is there, the ranks wait until it is not",
     all_of(2, "~nanosleep@load_extension"), also=[NOBODY, ranks(0, 1)])
hang("wait-for-client", "tcp accept", "h10_wait_for_client.py", ranks(2), "accept|listen|debug|attach|connect|" + NEVER, "rank 2 waits for a debugger to attach",
     {"rank2": "accept@wait_for_client", "rank0": "recvfrom>rank2", "rank1": "recvfrom>rank0"})
hang("char-count", "tcp recv", "h10_char_count.py", ranks(1), TCP + "length|bytes|short|" + CIRCLE, "rank 1 tells lengths in characters, rank 0 reads what is left over as a length",
     {"rank0": "recvfrom>rank1", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"}, also=[cycle("rank0", "rank1")])
hang("interleaved", "tcp recv", "h10_interleaved.py", cycle("rank0", "rank1"), TCP + "futex|lock|order|thread|" + CIRCLE,
     "a saving thread and the training share a connection; rank 1 is at the checkpoint's sum, rank 0 at the gradient's",
     {"rank0": "recvfrom>rank1@gradient|call", "rank1": "futex@call"}, also=[ranks(1), role("rank1", 1)])
hang("line-search", "busy", "h10_line_search.py", ranks(1), "busy|cpu|comput|loop|spin|sleep|not in|elsewhere|nan|line|loss_of", "rank 1's loss is nan, its line search never ends",
     {"rank1": "spin", "rank0": "recvfrom>rank1"})
hang("health-probe", "tcp recv", "h10_health_probe.py", role("probe"), TCP + "challenge|auth|accept|handshake|" + CIRCLE, "a probe is connected to rank 0's door and says nothing; rank 0 reads its answer before it takes a peer",
     {"rank0": "read|recv>probe@accept|answer_challenge|deliver_challenge", "rank1": "read|recv", "rank2": "read|recv"}, also=[ranks(0)])
hang("polite", "livelock", "h10_polite.py", cycle("rank0", "rank1"), POLL + "livelock|progress|messages|talk|recv|tcp|step|" + CIRCLE, "each withdraws as the other stands for the same, for ever",
     {"rank0": "~nanosleep|recvfrom@elect", "rank1": "~nanosleep|recvfrom@elect"}, also=[ranks(0, 1)])
hang("clock-bound", "tcp recv", "h10_clock_bound.py", role("server"), TCP + "select|poll|clock|" + GONE + "|" + CIRCLE,
     "a server still counts the clock of worker 2, which has left, and lets no other go on",
     {"server": "select", "rank0": "recvfrom>server", "rank1": "recvfrom>server", "rank2": "gone", "rank3": "recvfrom>server"},
     also=[ranks(2), cycle("rank0", "server"), cycle("rank0", "rank1", "rank3", "server")])
hang("broadcast-block", "shared memory", "h10_broadcast_block.py", ranks(2), FUTEX + "shm|shared|acquire|swap|not in|elsewhere|" + NEVER, "worker 2 has left a lock taken by an error and wants it again; the engine wants its blocks back",
     {"engine": "~nanosleep@engine", "rank0": "~nanosleep@worker", "rank1": "~nanosleep@worker", "rank2": "futex@swap"})
hang("capture", "pipe full", "h10_capture.py", ranks(1), "pipe|full|write|itself|own|self", "rank 1 writes more into its own pipe than it holds, and would read it afterwards",
     {"rank1": "write@autotune", "rank0": "recvfrom>rank1"}, proved=True)
hang("self-connect", "tcp recv", "h10_self_connect.py", ranks(1), TCP + "itself|self|bind|in use|port|" + NEVER, "rank 1 is connected to itself on the port that rank 0 cannot bind",
     {"rank0": "~nanosleep@server", "rank1": "recvfrom"}, also=[cycle("rank0", "rank1")])
hang("log-queue", "semaphore", "h10_log_queue.py", role("writer"), "queue|sem|futex|put|full|log|not read|reader|" + GONE + "|" + NEVER,
     "the process that wrote the log was killed, the queue to it is full", {"writer": "gone", **all_of(4, "futex@enqueue|put")}, gone=True, also=[NOBODY])
hang("grpc-streams", "grpc", "h10_grpc_streams.py", role("server"), "grpc|unary|Lookup|thread|slot|pool|poll|futex|cond|" + CIRCLE,
     "two streams that never end have both threads of a gRPC server, rank 2's question waits", {"server": "~*futex", "rank2": "~*futex", "rank0": "recvfrom>rank2", "rank1": "recvfrom>rank0"},
     needs=["grpc"], also=[ranks(2)])
hang("no-delimiter", "zmq", "h10_no_delimiter.py", ranks(1), "zmq|poll|recv|tcp|drop|lost|frame|" + CIRCLE + "|" + NEVER, "rank 1's question lacks its empty frame, the service drops it",
     {"service": "poll", "rank1": "poll", "rank0": "recvfrom>rank1"}, needs=["zmq"], also=[role("service"), cycle("rank1", "service")])
hang("signal-checkpoint", "futex", "h10_signal_checkpoint.py", ranks(1), FUTEX + "signal|handler|save|itself|own|" + NEVER, "a handler of a signal wants the lock that the program under it holds",
     {"rank1": "futex@save", "rank0": "recvfrom>rank1", "rank2": "recvfrom>rank0"})
hang("layer-drop", "tcp recv", "h10_layer_drop.py", ranks(5), TCP + "order|behind|ahead|" + CIRCLE, "rank 5 leaves out other layers than the other seven",
     all_of(8, "recvfrom"), also=[cycle(*["rank%d" % r for r in range(8)])])

# One process in Python, or some that are no ranks
hang("pool-callback", "pool", "h10_pool_callback.py", role("main"), "pool|apply|callback|futex|cond|thread|lock|wait|" + CIRCLE + "|" + NEVER,
     "a callback in the thread that takes results waits for a result", {"main": "futex@wait"})
hang("notify-woken", "condition", "h10_notify_woken.py", role("worker1"), "notify|cond|sem|futex|" + GONE + "|" + NEVER, "a worker was killed while it waited for a condition, who notifies waits for it",
     {"main": "futex@notify", "worker1": "gone", "worker0": "futex", "worker2": "futex"}, gone=True, also=[role("main"), ranks(0), NOBODY])
hang("collected", "futex", "h10_collected.py", role("main"), FUTEX + "__del__|put|itself|own|collect|finali|" + NEVER, "the collector runs a __del__ that wants the lock which the code under it holds", {"main": "futex@put"})
hang("not-threadsafe", "asyncio", "h10_not_threadsafe.py", role("main"), "epoll|loop|asyncio|future|await|thread|" + NEVER, "a thread has ended a future without waking the loop", {"main": "epoll_wait"},
     also=[NOBODY])
hang("weak-task", "asyncio", "h10_weak_task.py", role("main"), "epoll|loop|asyncio|task|queue|await|destroyed|" + NEVER, "the task that fills a queue was collected, main waits for the queue",
     {"main": "~epoll_wait"}, also=[NOBODY])
hang("object-store", "unix recv", "h10_object_store.py", cycle("reducer", "store"), "unix|read|recv|store|full|room|cond|futex|" + CIRCLE,
     "the store is full of what the reducer holds, mappers wait for room, the reducer for their objects", {"store": "accept", "reducer": "read>store@ask"},
     also=[role("store"), role("reducer"), cycle("mapper0", "reducer", "store"), cycle("mapper1", "reducer", "store"), cycle("mapper2", "reducer", "store"), cycle("mapper3", "reducer", "store")])
hang("prefetch", "tcp recv", "h10_prefetch.py", role("worker0"), TCP + "select|queue|task|result|" + CIRCLE, "worker 0 waits for the result of a task that lies in its own hand",
     {"broker": "select", "worker0": "recvfrom>broker@result_of", "worker1": "recvfrom>broker@take"}, also=[role("broker"), cycle("worker0", "broker")])
hang("coalesced", "signal", "h10_coalesced.py", role("main"), "sigwait|signal|SIGCHLD|zombie|ended|defunct|child|" + GONE + "|" + NEVER, "two children ended as one signal, main waits for one more", {"main": "sigtimedwait"},
     also=[NOBODY])
hang("wal-checkpoint", "sqlite", "h10_wal_checkpoint.py", role("dashboard"), "sqlite|lock|wal|db|fcntl|read|checkpoint|" + CIRCLE, "a dashboard keeps a snapshot of the base, the trainer tries to empty its log",
     {"main": "~nanosleep@train", "dashboard": "recvfrom>main"}, also=[cycle("main", "dashboard")])

# C, Go, Rust, Node, bash
hang("tz-fork", "futex", "h10_tz_fork.c", role("helper"), FUTEX + "fork|localtime|tz|time|" + NEVER, "a helper was forked while another thread had the lock of time zones", {"main": "wait4>helper", "helper": "futex"},
     also=[cycle("main", "helper")])
hang("fork-destroy", "futex", "h10_fork_destroy.c", role("exporter"), "futex|cond|destroy|fork|thread|lock|" + NEVER, "a forked exporter destroys a condition for which a thread waits that it has not got",
     {"main": "wait4>exporter", "exporter": "futex"})
hang("sigwait", "signal", "h10_sigwait.c", role("main"), "sigwait|signal|SIGUSR|" + CIRCLE + "|" + NEVER, "a thread of a library gets the signal for which main waits", {"main": "sigtimedwait", "feeder": "sigtimedwait"},
     also=[cycle("main", "feeder"), role("feeder"), NOBODY])
hang("cancelled", "futex", "h10_cancelled.c", role("main"), FUTEX + "cancel|" + GONE + "|" + NEVER, "a thread was cancelled with the lock held that main wants", {"main": "futex"}, also=[NOBODY])
hang("sandbox", "seccomp", "h10_sandbox.c", role("main"), "seccomp|notif|supervis|open|sandbox|pipe|read|" + CIRCLE, "the supervisor of a sandbox reads its report and does not answer its question",
     {"main": "read>sandbox", "sandbox": "seccomp|openat"}, also=[cycle("main", "sandbox"), role("sandbox")])
hang("negative-timeout", "udp", "2* h10_negative_timeout.c", ranks(1), "poll|udp|recv|datagram|timeout|" + CIRCLE + "|" + NEVER, "rank 1 waits for a receipt for ever, as its timeout is less than nothing; the datagram was lost",
     {"rank0": "recvfrom", "rank1": "poll"}, also=[cycle("rank0", "rank1"), ranks(0)])
hang("ticker", "go", "h10_ticker.go", role("main"), "futex|goroutine|chan|epoll|wait|" + NEVER, "a goroutine goes over the ticks of a ticker that was stopped, main waits for it", {"main": "*futex|epoll_wait"}, also=[NOBODY])
hang("nested-limit", "go", "h10_nested_limit.go", role("main"), "futex|goroutine|chan|epoll|wait|" + CIRCLE + "|" + NEVER, "who lists a folder keeps his place and wants more of them", {"main": "*futex|epoll_wait"})
hang("once", "rust", "h10_once.rs", role("main"), FUTEX + "once|itself|own|" + NEVER, "a table that is made once is wanted while it is made, by the same thread", {"main": "futex"})
hang("drain", "node", "h10_drain.js", role("main"), "epoll|loop|event|node|idle|" + NEVER, "the program waits for a 'drain' that does not come", {"main": "epoll_wait"}, also=[NOBODY])
hang("atomics", "node", "h10_atomics.js", role("main"), "epoll|futex|atomics|worker|thread|loop|" + CIRCLE + "|" + NEVER, "a worker waits for a cell that main has changed without waking it", {"main": "epoll_wait"}, also=[NOBODY])
hang("follow", "pipe", "h10_follow.sh", role("follower"), "sleep|poll|loop|log|pipe|wait4|its child|" + GONE + "|" + NEVER, "a log is followed in which nothing is written any more; grep has found its line and ended",
     {"main": "wait4", "follower": "~wait4"}, also=[outside(r"server\.log"), NOBODY])
hang("wait-all", "wait4", "h10_wait_all.sh", role("board"), "wait4|its child|poll|select|http|accept|serve|child", "a script waits for all it has started, a board among them that never ends", {"main": "wait4", "board": "~poll"},
     also=[role("main"), ranks(0)])

# Healthy ones that are quiet for about a minute
quiet("q-lease", "open", "h10_q_lease.c", 60, "the kernel breaks a lease after 45 s", "a file is opened on which another process has a lease")
quiet("q-elastic", "tcp recv", "h10_q_elastic.py", 82, "the group's timeout is 60 s, then two go on", "a rank that does not answer is left out")
quiet("q-stale-lock", "sleep loop", "h10_q_stale_lock.py", 68, "a lock file is stale after 60 s", "a lock file whose owner is gone")
quiet("q-busy-base", "sqlite", "h10_q_busy_base.py", 72, "the base is compacted for 58 s", "sqlite waits for its lock")
quiet("q-pirate", "zmq", "h10_q_pirate.py", 67, "a socket is given up after 60 s", "a second service is asked", needs=["zmq"])
quiet("q-deadline", "grpc", "h10_q_deadline.py", 67, "a call has a deadline of 60 s", "a gRPC service that is stuck", needs=["grpc"])
quiet("q-wait-for", "asyncio", "h10_q_wait_for.py", 67, "asyncio gives up after 60 s", "a judge that does not answer")
quiet("q-timedwait", "condition", "h10_q_timedwait.c", 67, "a wait has a deadline of 60 s", "a condition with a deadline")
quiet("q-datagrams", "udp", "2* h10_q_datagrams.c", 68, "a datagram is sent again after 60 s", "a datagram that was lost")
quiet("q-after", "go", "h10_q_after.go", 67, "the next mirror is asked after 60 s", "a mirror that does not answer")
quiet("q-recv-timeout", "rust", "h10_q_recv_timeout.rs", 70, "an image is given up after 60 s", "a thread that is slow once")
quiet("q-abort", "node", "h10_q_abort.js", 67, "a question is given up after 60 s", "a registry that does not answer")
quiet("q-follow", "pipe", "h10_q_follow.sh", 67, "a server loads for 60 s", "a log is followed until a line comes")
quiet("q-wait-all", "wait4", "h10_q_wait_all.sh", 60, "one job of three takes 60 s", "a script waits for its jobs")
quiet("q-cleanup", "aiohttp", "h10_q_cleanup.py", 64, "a client has 58 s left of its long poll", "a service that shuts down", needs=["aiohttp"])
quiet("q-compile", "sleep loop", "h10_q_compile.py", 65, "rank 0 compiles for 58 s", "eight ranks and a lock file")
quiet("q-sandbox", "seccomp", "h10_q_sandbox.c", 64, "a person answers after 59 s", "a supervised sandbox")
quiet("q-alarm", "signal", "h10_q_alarm.c", 66, "a timer of 55 s", "a collector that sleeps until a signal")
quiet("q-clock-bound", "tcp recv", "h10_q_clock_bound.py", 66, "worker 2 reads its data anew for 58 s", "a bound of staleness")
quiet("q-full-store", "queue full", "h10_q_full_store.py", 64, "the consumer sorts for 57 s", "a bounded queue is full")
quiet("q-pool", "pool", "h10_q_pool.py", 63, "one file is large", "a pool over files")
quiet("q-late-peer", "accept", "h10_q_late_peer.py", 67, "the third rank comes after 60 s", "two ranks that greet each other")
quiet("q-validation", "tcp recv", "h10_q_validation.py", 64, "rank 5 validates for 58 s", "eight ranks in a tree")
quiet("q-exit-thread", "thread join", "h10_q_exit_thread.py", 63, "a thread sends metrics for a minute", "the end of a rank")

if __name__ == "__main__":
    BOOK.write("truth10.json")
