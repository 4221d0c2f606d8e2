"""What is true of each program of programs6; `cases6.py` as a program writes truth6.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h6-", "programs6")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet

# A process that adds up, agents, marker files, services
hang("decoder-swallow", "queue get", "h6_decoder_swallow.py", ranks(2), "queue|get|empty|thread|" + NEVER,
     "the decoding thread of rank 2 has swallowed an error and left, the others wait for the process that adds up",
     {"rank2": "futex@get .*queue", "reducer": "epoll", **all_of(4, "recvfrom>reducer", 2)})
hang("save-lock-kept", "lock", "h6_save_lock_kept.py", ranks(0), "lock|itself|acquire|saving|" + NEVER,
     "rank 0 has kept a lock over an error that it told, and wants it again",
     {"rank0": "futex@save ", "rank1": "recvfrom>reducer", "rank2": "recvfrom>reducer", "reducer": "epoll"})
hang("marker-cwd", "file", "h6_marker_cwd.py", outside(r"epoch3|done\.3"), r"done\.|epoch3|file|exist|sleep|poll|" + NEVER,
     "all ranks look for a marker of rank 3, which it made in another folder", all_of(4, "~nanosleep@train "), needs=["mpiexec"],
     also=[ranks(3), ranks(0, 1, 2, 3), {"nobody": NEVER}])
hang("refused-forever", "connect", "h6_refused_forever.py", role("features"), "refused|connect|retr|" + GONE,
     "a service has left with 0, rank 1 dials it for ever", {"features": "gone", "rank1": "~nanosleep@fetch ", "rank0": "recvfrom>rank1", "rank2": "recvfrom>rank1"},
     gone=True, also=[ranks(1), outside(r"refused|127\.0\.0\.1:\d+")])
hang("read-to-end", "tcp recv", "h6_read_to_end.py", cycle("rank2", "metrics"), CIRCLE + "|recv|tcp|end of|metrics|socket",
     "rank 2 waits for the answer to a post without a length, the server for the end of the post",
     {"rank2": "recvfrom>metrics", "metrics": "recvfrom>rank2", "rank0": "recvfrom>reducer", "rank1": "recvfrom>reducer"}, also=[ranks(2), role("metrics")])
hang("tunnel-stopped", "stopped", "h6_tunnel_stopped.py", role("tunnel"), "stopped|SIGSTOP|suspended", "the tunnel between rank 1 and its store is stopped",
     {"tunnel": "stopped", "rank1": "recvfrom>tunnel", "store": "recvfrom>tunnel", "rank0": "recvfrom>rank1", "rank2": "recvfrom"})
hang("aio-tool-calls-back", "asyncio", "h6_aio_tool_calls_back.py", cycle("main", "converter"), CIRCLE + "|child|pipe|read|block|event loop|recv",
     "a handler blocks the loop for a tool that asks the same loop", {"main": "read|poll", "converter": "recvfrom", "client": "recvfrom>main"},
     also=[role("main"), role("converter"), ranks(0)])
hang("gather-event", "asyncio", "h6_gather_event.py", role("main"), "asyncio|event|epoll|task|wait|gather|" + NEVER,
     "one of five gathered tasks waits for an event that a failed one does not set", {"main": "epoll"})
hang("aio-permit-lost", "asyncio", "h6_aio_permit_lost.py", role("main"), "asyncio|semaphore|acquire|permit|epoll|task|" + NEVER,
     "three failed requests have kept the three permits", {"main": "epoll"})
hang("future-callback", "future", "h6_future_callback.py", role("main"), "future|result|callback|thread|" + NEVER,
     "the callback that sets a future has failed", {"main": "futex@result "}, loud=True)
hang("notify-before", "mp condition", "h6_notify_before.py", cycle("main", "scorer"), CIRCLE + "|condition|wait|notif|semaphore|futex|join|" + NEVER,
     "the parent has notified before the child waited, and joins it", {"scorer": "futex@score ", "main": "wait4>scorer"},
     also=[role("scorer"), role("main"), ranks(0)])
hang("event-setter-died", "mp event", "h6_event_setter_died.py", role("indexer"), GONE + "|event|semaphore|" + NEVER,
     "the process that would set an event has ended with an error", {"indexer": "gone", "main": "futex@wait "}, gone=True, loud=True,
     also=[role("main"), ranks(0), {"nobody": NEVER}])
hang("imap-generator", "mp pool", "h6_imap_generator.py", role("main"), "queue|get|generator|names|pool|next|" + NEVER,
     "the generator of a pool's tasks reads a queue that nobody fills", {"main": "*futex@names "})
hang("slots-killed", "mp semaphore", "h6_slots_killed.py", role("eval0"), "killed|SIGKILL|semaphore|slot|" + GONE,
     "two of three were killed with their slots of a semaphore", {"eval0": "gone", "eval1": "gone", "eval2": "futex@evaluate ", "main": "wait4>eval2"},
     gone=True, also=[role("eval1"), role("eval2"), {"nobody": NEVER}])
hang("head-keeps", "file", "h6_head_keeps.sh", role("cutter"), r"approved\.flag|sleep|file|pipe|poll|child|read",
     "the reader of a pipe looks for a file that nobody makes", {"cutter": "~wait4", "packer": "write>cutter"}, needs=["bash"],
     also=[outside(r"approved\.flag")])
hang("two-sorters", "pipe", "h6_two_sorters.py", cycle("main", "sort1"), CIRCLE + "|pipe|read|stdin|end of|inherit|write end",
     "the second sort keeps the first one's input open, and reads its own from main, which waits for the first",
     {"sort0": "read>sort1", "sort1": "read>main", "main": "wait4>sort0"},
     also=[cycle("main", "sort0", "sort1"), role("sort1"), role("main"), ranks(0)])
hang("tail-grep", "pipe", "h6_tail_grep.sh", role("tail"), r"train\.log|tail|inotify|pipe|read|Finished|" + GONE + "|" + NEVER,
     "a wrapper reads tail -f of a log that nobody writes any more", {"trainer": "gone", "main": "read>tail", "tail": "read|poll|select|~nanosleep"},
     needs=["bash", "setpriv"], also=[role("trainer"), role("main"), outside(r"train\.log"), ranks(0)])
hang("fifo-own-writer", "fifo", "h6_fifo_own_writer.py", role("main"), "fifo|itself|own|writer|pipe|requests|" + NEVER,
     "the reader of a FIFO is its only writer, the sampler has left with 0", {"main": "read", "sampler": "gone"},
     also=[ranks(0), role("sampler"), outside("requests"), {"nobody": NEVER}])
hang("health-lock", "flock", "h6_health_lock.py", cycle("main", "cleaner"), CIRCLE + r"|flock|lock|cache\.lock|recv",
     "a cleaner asks the trainer under the lock that the trainer wants", {"main": "flock>cleaner", "cleaner": "recvfrom"},
     also=[role("cleaner"), role("main")])
hang("key-lock-dead", "lock key", "h6_key_lock_dead.py", ranks(1), r"killed|SIGKILL|lock:vocab|key|lock|sleep|retr|" + GONE,
     "rank 1 was killed with a lock in a server of keys", {"rank1": "gone", "rank0": "~nanosleep@work |sleep", "rank2": "~nanosleep@work |sleep"},
     gone=True, also=[outside("lock:vocab")])
hang("building-forever", "http", "h6_building_forever.py", role("index"), r"index|http|202|sleep|retr|poll|server|port",
     "the thread of a service that would end 202 has failed", {"index": "~poll|epoll", "rank0": "~nanosleep@search |sleep", "rank1": "~nanosleep@search |sleep"},
     also=[outside(r"/index|127\.0\.0\.1:\d+"), ranks(0, 1)])
hang("two-services", "tcp recv", "h6_two_services.py", cycle("tokenizer", "normalizer"), CIRCLE + "|recv|tcp|socket",
     "two services of one thread each ask each other", {"tokenizer": "recvfrom>normalizer", "normalizer": "recvfrom", "main": "recvfrom>tokenizer"},
     also=[role("normalizer"), role("tokenizer")])

# ZeroMQ, gRPC, MPI, pools, C, C++, Rust, Go, Node, Java, bash
hang("zmq-identity", "zeromq", "h6_zmq_identity.py", cycle("main", "router"), "zmq|zeromq|recv|poll|identity|" + CIRCLE + "|" + NEVER,
     "a router sends to the old name of a client that came back under a new one", {"main": "poll", "router": "poll"}, needs=["zmq"],
     also=[role("router"), role("main"), ranks(0)])
hang("zmq-linger", "zeromq", "h6_zmq_linger.py", ranks(2), "zmq|zeromq|term|linger|context|poll|futex|send|refused|" + NEVER,
     "rank 2 ends its context, which waits to send to a collector that was never started", {"rank2": "poll|futex@term", "rank0": "gone", "rank1": "gone"},
     needs=["zmq"], also=[outside(r"127\.0\.0\.1:\d+")])
hang("grpc-half", "grpc", "h6_grpc_half.py", cycle("main", "server"), CIRCLE + "|grpc|result|stream|queue|get|futex|" + NEVER,
     "a stream of requests is never ended, the server answers at its end", {"main": "*futex@result ", "server": "*~futex|epoll"}, needs=["grpc"],
     also=[role("main"), ranks(0), role("server")])
hang("grpc-wait-ready", "grpc", "h6_grpc_wait_ready.py", role("scorer"), "grpc|ready|connect|refused|channel|scorer|" + GONE,
     "a server has left with 0, rank 1 calls it until it is ready", {"scorer": "gone", "rank1": "*~futex|epoll@train", "rank0": "recvfrom>reducer", "rank2": "recvfrom>reducer"},
     needs=["grpc"], gone=True, also=[ranks(1), outside(r"127\.0\.0\.1:\d+")])
hang("mpi-tag", "mpi", "3 h6_mpi_tag.py", ranks(0), "recv|tag|barrier|collective|not in|elsewhere|message|" + CIRCLE,
     "rank 1 has sent under another tag and is in the barrier, rank 0 waits for the right one", all_of(3, "spin"), needs=["mpi4py", "mpiexec"],
     also=[ranks(1), cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2")])
hang("mpi-empty-shard", "mpi", "4 h6_mpi_empty_shard.py", ranks(0), "recv|barrier|not in|elsewhere|message|collective|" + CIRCLE,
     "rank 2 had nothing to send and is in the barrier, rank 0 waits for its result", all_of(4, "spin"), needs=["mpi4py", "mpiexec"],
     also=[ranks(2), cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2", "rank3")])
hang("mpi-window", "mpi", "3 h6_mpi_window.py", cycle("rank1", "rank2"), CIRCLE + "|lock|window|recv|barrier|elsewhere",
     "rank 1 waits for a message under the lock of a window that rank 2 wants first", all_of(3, "spin"), needs=["mpi4py", "mpiexec"],
     also=[ranks(1), ranks(2)])
hang("mpi-reader-thread", "mpi", "4 h6_mpi_reader_thread.py", ranks(2), "queue|get|thread|empty|" + CIRCLE + "|" + NEVER,
     "thread and main thread of rank 2 wait for each other's buffers, the others are in MPI",
     {"rank2": "futex@module>", "rank0": "spin", "rank1": "spin", "rank3": "spin"}, needs=["mpi4py", "mpiexec"])
hang("pool-callback", "sleep", "h6_pool_callback.py", role("main"), "sleep|poll|callback|loop|pool|done|" + NEVER,
     "the callbacks that give a pool its next tasks have failed, main looks at a counter", {"main": "~nanosleep@module>"})
hang("prefetch-order", "mp queue", "h6_prefetch_order.py", cycle("main", "loader1"), CIRCLE + "|queue|get|read|pipe|batch|" + NEVER,
     "loader 1 has given no batch for an index and waits for the next one, main wants that batch first", {"main": "read@batches ", "loader0": "read|futex", "loader1": "read|futex"},
     also=[role("loader1"), role("main"), ranks(0), cycle("main", "loader0", "loader1")])
hang("ring-done-flag", "process-shared condition", "h6_ring_done_flag.c", role("producer"), GONE + "|cond|futex|" + NEVER,
     "the producer of a ring in shared memory has left with 0 and did not say so", {"producer": "gone", "main": "futex"}, gone=True,
     also=[role("main"), ranks(0), {"nobody": NEVER}])
hang("cancel-mutex", "mutex", "h6_cancel_mutex.c", role("main"), "mutex|lock|futex|thread|" + GONE, "a thread was cancelled with a mutex",
     {"main": "futex"}, proved=True)
hang("waitall-short", "unix recv", "h6_waitall_short.c", cycle("main", "worker"), CIRCLE + "|recv|unix|socket",
     "the reader waits for the last 4 bytes of a message, the writer for the answer", {"main": "recvfrom>worker", "worker": "recvfrom>main"},
     also=[role("worker"), role("main")])
hang("unix-backlog", "unix connect", "h6_unix_backlog.py", role("service"), r"pipe|accept|connect|service|read|itself|" + NEVER,
     "a service that listens reads a pipe that it alone writes, ranks block in connect", {"service": "read", "rank3": "connect|recvfrom", "rank2": "connect|recvfrom"})
hang("async-destructor", "future", "h6_async_destructor.cpp", role("main"), "futex|future|thread|join|wait|async|" + CIRCLE + "|" + NEVER,
     "the destructor of a future joins a thread that waits for what main does next", {"main": "*futex"})
hang("guard-temporary", "mutex", "h6_guard_temporary.rs", role("main"), "mutex|lock|futex|itself|" + CIRCLE, "the guard of a match is held when its arm locks again",
     {"main": "futex"})
hang("collector", "go", "h6_collector.go", role("main"), "chan|send|wait|goroutine|futex|collect|" + NEVER, "a collector has returned, workers send to nobody",
     {"main": "*~futex|epoll"})
hang("mutex-js", "node", "h6_mutex.js", role("main"), "promise|await|epoll|event loop|idle|lock|" + NEVER, "a lock made of promises was never released", {"main": "epoll"})
hang("latch-java", "latch", "h6_Latch.java", role("main"), "latch|await|park|futex|condition|countdown|" + NEVER, "a task that would count a latch down has failed",
     {"main": "*~futex"}, needs=["java", "javac"])
hang("pgrep-self", "process", "h6_pgrep_self.sh imagenet-sketch-v4b", role("main"), r"itself|pgrep|sleep|loop|poll|child|imagenet|wait|" + NEVER,
     "a script waits for the end of all processes with a word in their command, itself among them", {"main": "~wait4"}, needs=["bash", "pgrep"], also=[outside("imagenet-sketch-v4b|pgrep")])
hang("world-of-four", "accept", "h6_world_of_four.py", ranks(0), "accept|connect|world|rank 3|listen|join|missing|rendezvous|never came",
     "three ranks were started for a world of four", {"rank0": "accept", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"},
     also=[ranks(3), ranks(0, 1, 2), outside("rank 3|fourth"), role("launcher")])
hang("wrong-peer", "unix recv", "h6_wrong_peer.py", cycle("rank1", "rank2", "rank3"), CIRCLE + "|recv|unix|socket",
     "stage 3 takes its input from stage 1, which sends to stage 2", {"rank0": "recvfrom>rank1", "rank1": "recvfrom>rank2", "rank2": "recvfrom>rank3", "rank3": "recvfrom>rank1"},
     also=[ranks(3)])
hang("saver-gone", "pipe", "h6_saver_gone.py", role("saver"), GONE + "|pipe|read|" + NEVER, "a saver has left with 0, its loaders keep its end of the pipe",
     {"saver": "gone", "main": "read>loader0", "loader0": "~nanosleep", "loader1": "~nanosleep"}, gone=True, also=[role("loader0"), role("loader1"), role("main"), ranks(0)])

# Servers that wait for more, lost wakeups, ends of jobs
hang("arrival-dropped", "tcp recv", "h6_arrival_dropped.py", cycle("rank2", "barrier"), CIRCLE + "|recv|tcp|barrier|socket|accept|" + NEVER,
     "a service of barriers has dropped rank 2's arrival, all wait for the service", {**all_of(3, "recvfrom>barrier"), "barrier": "*recvfrom>rank2"},
     also=[role("barrier"), ranks(2), ranks(0, 1, 2), cycle("rank0", "rank1", "rank2", "barrier")])
hang("batcher-size", "tcp recv", "h6_batcher_size.py", role("server"), "server|queue|get|batch|recv|tcp|accept|" + NEVER,
     "a server computes for four callers at once, and one of them has left with 0",
     {**all_of(4, "recvfrom>server", 3), "rank3": "gone", "server": "*futex@batcher|listcomp"}, also=[ranks(3), cycle("rank0", "rank1", "rank2", "server")])
hang("op-mismatch", "tcp recv", "h6_op_mismatch.py", ranks(0), "sum|recv|tcp|accuracy|not in|elsewhere|reducer|" + CIRCLE,
     "rank 0 alone sums an accuracy, the others are in the next gradient's sum", {**all_of(4, "recvfrom>reducer"), "reducer": "epoll"}, needs=["tqdm"],
     also=[role("reducer"), cycle("rank0", "rank1", "rank2", "rank3"), ranks(0, 1, 2, 3)])
hang("wait-for-server", "child", "h6_wait_for_server.sh", role("page"), "child|wait|accept|poll|server|listen|http",
     "a script waits for all its children, one of them is a server", {"main": "wait4>page", "page": "~poll|select|epoll"}, needs=["bash", "setpriv"], also=[role("main"), ranks(0)])
hang("log-queue", "queue put", "h6_log_queue.py", role("main"), "queue|put|full|thread|log|" + NEVER, "the thread that writes log records has failed, their queue is full",
     {"main": "futex@put .*queue"})
hang("import-thread", "thread join", "h6_import_thread.py", role("main"), "import|join|thread|lock|" + CIRCLE, "a module joins a thread that imports the module",
     {"main": "*futex@register "})
hang("finalizer-lock", "lock", "h6_finalizer_lock.py", role("main"), "lock|itself|__del__|" + CIRCLE, "a finalizer takes the lock that its thread has", {"main": "futex@__del__ "})
hang("loop-stopped", "future", "h6_loop_stopped.py", role("main"), "future|result|loop|thread|asyncio|" + NEVER, "a coroutine was given to a loop whose thread has left",
     {"main": "futex@result "})
hang("aio-wait-pipe", "pipe", "h6_aio_wait_pipe.py", cycle("main", "child"), CIRCLE + "|pipe|full|write|epoll|child|output",
     "asyncio waits for the end of a child whose output it does not read", {"main": "epoll", "child": "write>main"}, also=[role("main"), role("child"), ranks(0)])
hang("manager-barrier", "mp manager", "h6_manager_barrier.py", role("worker2"), GONE + "|barrier|manager|" + NEVER, "one of three at a Manager's barrier has left with 0",
     {"worker2": "gone", "worker0": "read>manager", "worker1": "read>manager", "main": "wait4>worker0"}, gone=True, also=[role("manager"), {"nobody": NEVER}])
hang("array-spin", "spin", "h6_array_spin.py", role("actor"), GONE + "|spin|loop|shared|busy|" + NEVER, "a counter in shared memory is polled without a pause, its writer has left with 0",
     {"actor": "gone", "main": "spin"}, needs=["numpy"], gone=True, also=[role("main"), ranks(0)])
hang("notify-one", "condition", "h6_notify_one.py", role("main"), "condition|wait|notif|event|thread|futex|" + NEVER, "a notify has woken the wrong one of two consumers",
     {"main": "*futex@consume "})
hang("list-open", "file", "h6_list_open.sh", role("lister"), "CLOSED|inbox|sleep|file|pipe|read|poll|child|stdin|xargs",
     "xargs reads a list whose writer looks for a file that nobody makes", {"lister": "~wait4", "xargs": "read>lister", "main": "wait4"}, needs=["bash", "xargs"],
     also=[outside("CLOSED|inbox")])
hang("actor-self", "tcp recv", "h6_actor_self.py", cycle("actor1", "router"), CIRCLE + "|recv|tcp|lock|itself|router",
     "an actor asks the router for itself", {"actor1": "recvfrom>router", "actor0": "recvfrom>router", "main": "recvfrom>router", "router": "*futex@attend "},
     also=[role("actor1"), role("router")])
hang("tracer-left", "traced", "h6_tracer_left.c", role("uploader"), r"trac|stopped|profil|flock|lock|ptrace|pause",
     "a profiler has stopped a worker and waits for a file's lock that an uploader holds", {"worker": "stopped", "profiler": "flock>uploader", "uploader": "pause", "main": "read>worker"},
     also=[role("profiler"), outside(r"profile\.out")])
hang("scheduler-lost", "tcp recv", "h6_scheduler_lost.py", role("worker1"), GONE + "|scheduler|recv|tcp|select|" + CIRCLE + "|" + NEVER,
     "a worker has left with 0 and its task is lost, the one started for it waits for tasks",
     {"scheduler": "select", "main": "recvfrom>scheduler"}, gone=True, also=[role("worker0"), role("scheduler"), role("main"), ranks(0), cycle("main", "scheduler")])
hang("sigwait", "signal", "h6_sigwait.c", cycle("main", "worker"), CIRCLE + "|signal|sigwait|" + NEVER, "a thread that signals the worker has ended, main waits for the worker",
     {"main": "wait4>worker", "worker": "rt_sigtimedwait|128|sigtimedwait"}, also=[role("worker"), role("main"), ranks(0)])
hang("ack-of-agent", "unix recv", "h6_ack_of_agent.py", cycle("rank1", "agent"), CIRCLE + r"|turn10|file|recv|sleep|agent|unix",
     "an agent answers rank 1 when it has made a file, rank 1 makes it after the answer",
     {"rank1": "recvfrom>agent", "rank0": "recvfrom>agent", "rank2": "recvfrom>agent", "agent": "~nanosleep@agent "}, also=[role("agent"), ranks(1), outside(r"turn10\.1")])
hang("ticking-bar", "barrier", "h6_ticking_bar.py", ranks(0), "barrier|wait|thread|condition|parties|" + NEVER,
     "a thread of rank 0 has left a barrier of threads, another one draws a bar each second", {"rank0": "futex@wait .*threading", "rank1": "recvfrom>reducer", "rank2": "recvfrom>reducer"})

# Healthy ones
quiet("q-build-child", "child", "h6_q_build_child.py", 71, "a script of rank 0 compiles for 64 s", "kernels are built")
quiet("q-slow-checkpoint", "thread join", "h6_q_slow_checkpoint.py", 72, "a thread of rank 0 writes 32 KB a second for 68 s", "checkpoint on a slow disk")
quiet("q-trickle-aio", "asyncio", "h6_q_trickle_aio.py", 77, "90 bytes each 4 s", "slow download by asyncio")
quiet("q-evaluate-hash", "tcp recv", "h6_q_evaluate_hash.py", 72, "rank 2 computes for 66 s in native code", "evaluation on one rank")
quiet("q-rounds-event", "condition", "h6_q_rounds_event.py", 84, "waits with a limit of 40 s", "collector of metrics")
quiet("q-idle-threads", "accept", "h6_q_idle_threads.py", 74, "the next request comes after 70 s", "HTTP server of threads")
quiet("q-lockf-holder", "posix lock", "h6_q_lockf_holder.py", 70, "rank 0 works under the lock for 65 s", "tokenizing under a lock")
quiet("q-line-consumer", "pipe", "h6_q_line_consumer.sh", 75, "the reader takes a line each 6 s", "slow reader in bash", needs=["bash"])
quiet("q-refused-then-up", "connect", "h6_q_refused_then_up.py", 66, "the server computes for 63 s before it listens", "retry until a server is up")
quiet("q-sort", "compute", "h6_q_sort.c", 69, "sorts for 64 s", "sorting in C")
quiet("q-checksum-file", "fifo open", "h6_q_checksum_file.py", 67, "rank 0 reads a file for 64 s", "checksum of a file")
quiet("q-labeler-pause", "tcp recv", "h6_q_labeler_pause.py", 75, "the other side sleeps for 70 s", "answer of a person")
quiet("q-mpi-one-works", "mpi", "2 h6_q_mpi_one_works.py", 68, "rank 1 computes for 62 s, the other one is in a reduction", "late rank in MPI", needs=["mpi4py", "mpiexec"])
quiet("q-grpc-deadline", "grpc", "h6_q_grpc_deadline.py", 71, "a call with a limit of 66 s", "gRPC call that runs out of time", needs=["grpc"])
quiet("q-zmq-poll-limit", "zeromq", "h6_q_zmq_poll_limit.py", 75, "polls with a limit of 33 s, the actor sleeps 70 s", "ZeroMQ learner", needs=["zmq"])
quiet("q-aio-wait-for", "asyncio", "h6_q_aio_wait_for.py", 74, "waits with a limit of 68 s", "asyncio program")
quiet("q-pool-long-tasks", "future", "h6_q_pool_long_tasks.py", 67, "two workers compute for 64 s", "last tasks of a pool")
quiet("q-manager-lock-works", "mp manager", "h6_q_manager_lock_works.py", 70, "a worker computes for 63 s under a Manager's lock", "merging under a lock")
quiet("q-cond-timed", "condition", "h6_q_cond_timed.c", 74, "waits with a limit of 35 s, the producer sleeps 71 s", "writer of records in C")
quiet("q-context", "go", "h6_q_context.go", 69, "waits with a limit of 64 s", "request with a limit in Go")
quiet("q-retry-later", "node", "h6_q_retry_later.js", 70, "a timer of 66 s", "Retry-After in Node")
quiet("q-polls-java", "queue get", "h6_q_Polls.java", 76, "waits with a limit of 65 s, the producer sleeps 70 s", "queue in Java", needs=["java", "javac"])
quiet("q-holder-computes", "mutex", "h6_q_holder_computes.rs", 68, "a thread computes for 64 s under a mutex", "table under a mutex in Rust")
quiet("q-flock-limit", "flock", "h6_q_flock_limit.sh", 65, "the lock's holder writes a piece each 5 s", "flock with a limit", needs=["bash", "flock"])
quiet("q-tail-slow", "pipe", "h6_q_tail_slow.py", 70, "a line each 22 s", "follows a log", needs=["bash", "tail"])
quiet("q-xargs-long", "child", "h6_q_xargs_long.sh", 73, "children compute for 35 s, two after two", "conversions by xargs", needs=["bash", "xargs"])
quiet("q-marker-late", "file", "h6_q_marker_late.py", 66, "a helper works for 65 s and then writes the file", "ranks wait for unpacked data")
quiet("q-gang", "stopped", "h6_q_gang.py", 66, "a scheduler of the job sleeps 63 s and then continues what it has stopped", "gang scheduling")
quiet("q-post-late", "semaphore", "h6_q_post_late.c", 66, "the other process computes for 63 s", "semaphore in shared memory")
quiet("q-sqlite-writer", "sqlite", "h6_q_sqlite_writer.py", 69, "rank 0 writes for 62 s in a transaction", "database with a long transaction")
quiet("q-key-late", "tcp recv", "h6_q_key_late.py", 67, "rank 2 computes for 64 s", "key that is set late")
quiet("q-last-epoch-bar", "sleep", "h6_q_last_epoch_bar.py", 77, "24 s an epoch", "bar over epochs", needs=["tqdm"])

if __name__ == "__main__":
    BOOK.write("truth6.json")
