"""What is true of each program of programs7; `cases7.py` as a program writes truth7.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h7-", "programs7")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
NOBODY = {"nobody": NEVER}

# Ranks
hang("chain-branch", "tcp recv", "h7_chain_branch.py", ranks(2), "recv|tcp|not in|elsewhere|readline|" + CIRCLE,
     "rank 2 skips a sum and waits for a loss scale from rank 0, which is in the sum",
     {"rank2": "recvfrom>rank0", "rank1": "recvfrom>rank2", "rank0": "recvfrom>rank1", "rank3": "recvfrom>rank2"},
     also=[cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank1", "rank2", "rank3")])
hang("mp-barrier", "mp barrier", "h7_mp_barrier.py", role("worker3"), GONE + "|barrier|parties|" + NEVER, "one of four at a barrier has returned",
     {"worker3": "gone", "worker0": "futex", "worker1": "futex", "worker2": "futex", "main": "wait4>worker0"}, gone=True, also=[NOBODY])
hang("bucket-thread", "queue get", "h7_bucket_thread.py", ranks(1), "queue|get|empty|thread|" + NEVER,
     "the thread that sums for rank 1 has failed, the others' threads wait for it",
     {"rank1": "futex@get .*queue", "rank0": "*recvfrom>rank1", "rank2": "*recvfrom>rank1"})
hang("filelock-barrier", "flock", "h7_filelock_barrier.py", ranks(0), "flock|cache.lock|lock|barrier|recv|" + CIRCLE,
     "rank 0 is in a sum with the lock that all others want first", {"rank0": "recvfrom>rank1", "rank1": "flock>rank0", "rank2": "flock>rank0", "rank3": "flock>rank0"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2", "rank3")])
hang("eval-extra", "shared counter", "h7_eval_extra.py", ranks(0), GONE + "|poll|sleep|loop|counter|shared|meet|" + NEVER,
     "rank 0 has one batch more and waits for ranks that have left with 0", {"rank0": "~nanosleep@meet ", "rank1": "gone", "rank2": "gone"},
     also=[ranks(1, 2), ranks(1), ranks(2), role("rank1"), role("rank2"), role("rank0"), NOBODY])
hang("ps-stale", "tcp recv", "h7_ps_stale.py", cycle("rank2", "ps"), CIRCLE + "|recv|tcp|server|select|push|version|" + NEVER,
     "a server of parameters has dropped rank 2's push and waits for it, rank 2 for the server", {**all_of(4, "recvfrom>ps"), "ps": "epoll"},
     also=[role("ps"), ranks(2), role("rank2"), cycle("rank0", "rank1", "rank2", "rank3", "ps")])
hang("rollout-short", "mp condition", "h7_rollout_short.py", cycle("main", "actor1"), CIRCLE + "|queue|get|condition|wait|pipe|" + NEVER,
     "a learner waits for a rollout of actor 1, which waits for the learner's weights", {"main": "read@learn ", "actor0": "futex", "actor1": "futex", "actor2": "futex"},
     also=[role("main"), ranks(0), role("actor1"), cycle("main", "actor0", "actor1", "actor2")])
hang("mpi-branch", "mpi", "4 h7_mpi_branch.py", ranks(3), "mpi|barrier|allreduce|not in|elsewhere|reload", "rank 3 is alone in a barrier of another communicator",
     all_of(4, "spin"), needs=["mpi4py", "mpiexec"])
hang("mpi-early", "mpi", "4 h7_mpi_early.py", ranks(2), "mpi|recv|finali|" + GONE, "rank 2 has taken an empty list for the end, rank 0 waits for its answer",
     {**all_of(4, "spin", 2), "rank2": "~"}, needs=["mpi4py", "mpiexec"], also=[ranks(0)])
hang("schedule-1f1b", "tcp recv", "h7_schedule_1f1b.py", cycle("rank2", "rank3"), CIRCLE + "|recv|tcp|stage", "stage 2 waits for stage 3's gradient before its output is sent",
     {"rank2": "recvfrom>rank3", "rank3": "recvfrom>rank2", "rank1": "recvfrom>rank2", "rank0": "recvfrom>rank1"}, also=[ranks(2), role("rank2")])
hang("two-groups", "tcp recv", "h7_two_groups.py", ranks(5), "recv|tcp|not in|elsewhere|plan|" + CIRCLE, "rank 5 waits for a plan that rank 0 sends nobody",
     {"rank5": "recvfrom>rank0", "rank4": "recvfrom>rank5", "rank2": "recvfrom>rank4", "rank0": "recvfrom>rank2", "rank1": "recvfrom", "rank7": "recvfrom"},
     also=[cycle("rank0", "rank2", "rank4", "rank5")])
hang("loop-result", "future", "h7_loop_result.py", ranks(0), "future|result|loop|asyncio|itself|futex|lock|wait|" + NEVER,
     "rank 0's loop waits for what only this loop could do", {"rank0": "futex@result ", **all_of(4, "recvfrom>rank0", 0)})
hang("pid-file", "poll", "h7_pid_file.py", ranks(0), r"pid|launcher|sleep|poll|exist|loop|/proc|" + NEVER, "rank 0 waits for the end of its own launcher",
     {"rank0": "~nanosleep@free ", "rank1": "recvfrom>reducer", "rank2": "recvfrom>reducer"}, also=[outside(r"trainer\.pid"), role("launcher"), cycle("rank0", "launcher")])
hang("serial-service", "connect", "h7_serial_service.py", role("service"), r"connect|accept|backlog|recv|service|agent|pause|tcp|listen",
     "a service reads from a silent client, rank 1's connection is not taken", {"service": "recvfrom>agent", "agent": "pause", "rank1": "connect", "rank0": "recvfrom>rank1"},
     also=[role("agent"), outside(r"127\.0\.0\.1:\d+")])
hang("decoder-stopped", "stopped", "h7_decoder_stopped.py", role("decoder3"), "stopped|SIGSTOP|suspended", "the decoder of rank 3 is stopped",
     {"decoder3": "stopped", "rank3": "read>decoder3", "rank2": "recvfrom>rank3", "rank0": "recvfrom>rank1"})
hang("tee-thread", "pipe full", "h7_tee_thread.py", ranks(1), "pipe|full|write|itself|" + NEVER, "rank 1 writes into a pipe that only its own ended thread read",
     {"rank1": "write", "rank0": "recvfrom>rank1"})
hang("rendezvous-names", "tcp recv", "h7_rendezvous_names.py", role("rendezvous"), "rendezvous|recv|http|condition|join|server|tcp|" + NEVER + "|" + CIRCLE,
     "two workers have joined under one name, the server waits for a third", {**all_of(3, "recvfrom>rendezvous"), "rendezvous": "*futex"},
     also=[ranks(1, 2), ranks(1), ranks(2), outside(r"127\.0\.0\.1:\d+"), cycle("rank0", "rank1", "rank2", "rendezvous")])
hang("bucket-go", "go", "3* h7_bucket.go", ranks(1), "epoll|read|recv|tcp|socket|goroutine|futex|chan|" + CIRCLE + "|" + NEVER, "the sender of rank 1 has returned",
     {"rank0": "*~epoll|futex", "rank1": "*~epoll|futex", "rank2": "*~epoll|futex"}, also=[cycle("rank0", "rank1")])
hang("usr1-mutex", "mutex", "2* h7_usr1_mutex.c", ranks(1), "mutex|lock|itself|signal|futex|" + CIRCLE, "a handler of rank 1 wants the mutex that the interrupted thread has",
     {"rank1": "futex", "rank0": "recvfrom>rank1"})
hang("server-slots", "tcp recv", "h7_server_slots.py", role("server"), "server|semaphore|acquire|slot|recv|tcp|futex|" + NEVER,
     "two failed requests have kept a server's slots", {**all_of(3, "recvfrom>server"), "server": "*futex@handle "}, also=[outside(r"127\.0\.0\.1:\d+")])

# Pipelines, pools, servers, ends
hang("zstd-wait", "child", "h7_zstd_wait.py", cycle("main", "zstd"), CIRCLE + "|child|pipe|full|write|wait|zstd|output",
     "main waits for the end of zstd, whose output it does not read", {"main": "wait4>zstd", "zstd": "write>main"}, needs=["zstd"],
     also=[role("main"), ranks(0), role("zstd")])
hang("nested-submit", "future", "h7_nested_submit.py", role("main"), "pool|future|result|thread|submit|itself|executor|" + CIRCLE + "|" + NEVER,
     "tasks wait for others of their own full pool", {"main": "futex@result "})
hang("fifo-log", "fifo open", "h7_fifo_log.sh", role("main"), r"fifo|log\.pipe|open|reader|pipe|nobody|" + GONE,
     "the reader of a FIFO has left at its limit of lines, the shell opens it again", {"main": "~wait4", "shipper": "gone"}, needs=["bash"],
     also=[role("shipper"), ranks(0), outside(r"log\.pipe")])
hang("decode-slots", "mp semaphore", "h7_decode_slots.py", role("loader0"), GONE + "|semaphore|acquire|slot|" + NEVER, "two loaders were killed with the two slots",
     {"loader0": "gone", "loader1": "gone", "loader2": "futex", "main": "read@get "}, gone=True, also=[role("loader1"), NOBODY])
hang("pool-maxtasks", "lock", "h7_pool_maxtasks.py", role("worker"), r"lock|fork|inherit|acquire|tokenize|" + NEVER,
     "a worker was forked while another thread had the lock", {"main": "futex@get ", "worker": "futex@tokenize "}, also=[role("main"), ranks(0)])
hang("writer-gone", "mp queue put", "h7_writer_gone.py", role("writer"), GONE + "|queue|put|full|semaphore|" + NEVER, "the writer has left with 0, its queue is full",
     {"writer": "gone", "tokenizer0": "futex@put ", "tokenizer1": "futex@put ", "main": "wait4>tokenizer0"}, gone=True, also=[NOBODY])
hang("capture-daemon", "pipe", "h7_capture_daemon.py", role("daemon"), "pipe|read|poll|output|open|end of|daemon|inherit|descriptor",
     "a daemon keeps the output of its script open, main reads it to the end", {"main": "poll", "daemon": "~nanosleep"})
hang("gzip-stdin", "pipe", "h7_gzip_stdin.py", cycle("trainer2", "gzip2"), CIRCLE + "|pipe|read|stdin|end of|close|gzip",
     "a trainer reads gzip's output, gzip waits for the end of its input", {"trainer2": "read>gzip2", "gzip2": "read>trainer2", "trainer0": "gone", "main": "wait4>trainer2"},
     also=[role("trainer2"), role("gzip2")])
hang("http-pending", "poll", "h7_http_pending.py", role("server"), r"poll|sleep|http|server|queued|thread|loop|" + NEVER, "the thread of a server that runs jobs has ended, main asks again and again",
     {"main": "~nanosleep@module>", "server": "~poll|select"}, also=[role("main"), ranks(0), outside(r"127\.0\.0\.1:\d+")])
hang("claim-rs", "poll", "h7_claim.rs", role("worker"), r"poll|sleep|loop|claim|task|file|" + GONE + "|" + NEVER, "a worker has left with claimed tasks, main looks for their end",
     {"main": "~nanosleep", "worker": "gone"}, gone=True, also=[role("main"), ranks(0), NOBODY, outside("tasks|claim")])
hang("aio-circle", "asyncio", "h7_aio_circle.py", role("main"), "asyncio|future|await|task|epoll|gather|" + CIRCLE + "|" + NEVER, "two tasks await futures that the other sets",
     {"main": "epoll"})
hang("phases-c", "barrier", "h7_phases.c", role("main"), "barrier|futex|thread|join|" + NEVER, "one of four threads at a barrier has returned", {"main": "*futex"})
hang("overcount-cpp", "condition", "h7_overcount.cpp", role("main"), "cond|wait|futex|notif|" + NEVER, "a count was passed, its condition is never true", {"main": "futex"})
hang("registry-java", "class init", "h7_Registry.java", role("main"), "class|init|futex|lock|monitor|thread|" + CIRCLE + "|" + NEVER,
     "two threads initialize two classes that need each other", {"main": "*~futex"}, needs=["java", "javac"])
hang("finished-uploader", "flock", "h7_finished_uploader.py", role("syncer"), r"flock|runs\.lock|lock|signal|pause|child",
     "a syncing process keeps a lock and waits for a signal, the uploader and main wait", {"main": "wait4>uploader", "uploader": "flock>syncer", "syncer": "pause"})
hang("ring-wraps", "shared memory", "h7_ring_wraps.py", cycle("main", "writer"), CIRCLE + "|poll|sleep|shared|ring|counter|loop|" + NEVER,
     "a ring is full for its writer and empty for its reader", {"main": "~nanosleep@module>", "writer": "~nanosleep@write "}, needs=["numpy"],
     also=[role("main"), ranks(0), role("writer")])
hang("aio-queue-join", "asyncio", "h7_aio_queue_join.py", role("main"), "asyncio|queue|join|task|epoll|await|" + NEVER, "a fetcher has failed without task_done", {"main": "epoll"})
hang("trial-running", "sqlite", "h7_trial_running.py", role("trial2"), GONE + "|trial|poll|sleep|study|loop|database|" + NEVER, "a killed trial is running in the table",
     {"main": "~nanosleep@module>", "trial2": "gone", "trial0": "gone", "trial1": "gone"}, gone=True, also=[role("main"), ranks(0), outside(r"study\.db"), NOBODY])
hang("evaluator-watch", "file", "h7_evaluator_watch.py", cycle("main", "evaluator"), CIRCLE + r"|result-8|ckpt-8|file|exist|poll|sleep|loop|" + NEVER,
     "evaluator and trainer look for each other's files", {"main": "~nanosleep@wait_for ", "evaluator": "~nanosleep@wait_for "},
     also=[outside(r"result-8\.json|ckpt-8\.done"), role("main"), ranks(0), role("evaluator")])
hang("unpickle-result", "pool", "h7_unpickle_result.py", role("main"), "pool|thread|result|condition|wait|next|queue|unpickl|" + NEVER,
     "the thread of a pool that reads results has failed", {"main": "futex@next "}, loud=True)
hang("paused-js", "node", "h7_paused.js", cycle("main", "child"), CIRCLE + "|pipe|full|write|pause|read|output|child", "main has paused the output of the child whose end it waits for",
     {"main": "epoll", "child": "write|poll"}, also=[role("main"), ranks(0), role("child")])
hang("ipc-ack-js", "node", "h7_ipc_ack.js", role("main"), CIRCLE + "|epoll|message|ipc|unix|socket|worker|" + NEVER, "a primary answers the wrong worker, all wait for it",
     {"main": "epoll", "worker0": "epoll", "worker1": "epoll", "worker2": "epoll", "worker3": "epoll"},
     also=[ranks(0), cycle("main", "worker0", "worker1", "worker2", "worker3"), cycle("main", "worker0"), cycle("main", "worker3"), cycle("main", "worker2")])
hang("permits-rs", "condition", "h7_permits.rs", role("main"), "cond|futex|permit|thread|join|panick|wait|" + NEVER, "two threads have panicked with the two permits", {"main": "*futex"})
hang("convert-go", "child", "h7_convert.go", cycle("main", "sort"), CIRCLE + "|child|pipe|stdin|read|sort|wait|close", "main waits for sort, sort for the end of its input",
     {"main": "*~waitid|futex|epoll", "sort": "read>main"}, also=[role("main"), ranks(0), role("sort")])
hang("scorer-cpp", "tcp recv", "h7_scorer.cpp", role("server"), "server|recv|tcp|thread|answer|" + CIRCLE + "|" + NEVER, "the scoring thread of a server has left, requests are taken",
     {"main": "recvfrom>server", "server": "recvfrom>main"}, also=[cycle("main", "server")])
hang("handler-waits", "event", "h7_handler_waits.py", role("main"), "event|wait|handler|signal|drain|itself|lock|" + CIRCLE + "|" + NEVER,
     "a handler waits for what the code under it would do", {"main": "futex@drain "})
hang("bar-lock", "mp rlock", "h7_bar_lock.py", role("worker1"), GONE + "|lock|semaphore|acquire|" + NEVER, "a worker was killed with the lock of the bars",
     {"worker1": "gone", "worker2": "futex", "main": "wait4>worker2"}, gone=True, needs=["tqdm"], also=[NOBODY])
hang("grpc-watchers", "grpc", "h7_grpc_watchers.py", role("server"), "grpc|server|rpc|pool|call|condition|wait|tcp|" + NEVER, "two streams have a server's two threads, a call waits for one",
     {"main": "~epoll|futex@_blocking", "server": "*futex@watch "}, needs=["grpc"], also=[outside(r"127\.0\.0\.1:\d+"), role("watcher0"), role("watcher1")])
hang("zmq-inproc", "zeromq", "h7_zmq_inproc.py", role("main"), "zmq|zeromq|recv|thread|poll|inproc|itself|" + NEVER, "the thread at the other end of a pair has left", {"main": "poll"}, needs=["zmq"])

# More of them
hang("half-close", "tcp recv", "h7_half_close.py", role("server"), "server|recv|tcp|answer|accept|close|" + NEVER, "a server has seen the end of its input and neither answers nor closes",
     {"main": "recvfrom>server", "server": "accept"}, also=[outside(r"127\.0\.0\.1:\d+")])
hang("finalizer-put", "queue put", "h7_finalizer_put.py", role("main"), "queue|put|full|itself|__del__|finaliz|" + NEVER, "a finalizer puts into a full queue that its own thread empties",
     {"main": "futex@__del__ "})
hang("import-executor", "future", "h7_import_executor.py", ranks(1), "import|future|result|thread|lock|" + CIRCLE, "rank 1 waits in an import for a thread that imports the same module",
     {"rank1": "*futex@result ", "rank0": "recvfrom>rank1", "rank2": "recvfrom>rank1"})
hang("finished-pool", "queue get", "h7_finished_pool.py", ranks(1), "queue|get|thread|join|exit|pool|shutdown|finished|" + NEVER, "rank 1 joins a thread at its end that waits for a queue",
     {"rank1": "*futex@collect ", "rank0": "gone", "launcher": "~nanosleep"})
hang("generator-self", "queue get", "h7_generator_self.py", role("main"), "queue|get|empty|thread|generator|" + NEVER, "the thread that fills a queue wanted the generator that waits for it",
     {"main": "futex@batches "})
hang("child-stdin", "child", "h7_child_stdin.py", cycle("main", "cleaner"), CIRCLE + "|child|stdin|read|pipe|wait|answer|input", "main waits for a tool that asks main by its input",
     {"main": "wait4>cleaner", "cleaner": "read>main"}, also=[role("cleaner"), role("main"), ranks(0)])
hang("crew-cpp", "process-shared barrier", "h7_crew.cpp", role("crew4"), GONE + "|barrier|futex|" + NEVER, "the fifth of six at a barrier in shared memory has left with 0",
     {"crew4": "gone", "crew0": "futex", "crew5": "futex", "main": "wait4"}, gone=True, also=[NOBODY, ranks(4)])
hang("recover-go", "go mutex", "h7_recover.go", role("main"), "mutex|lock|futex|chan|goroutine|recover|" + NEVER, "a recovered panic has kept a mutex", {"main": "*~futex|epoll"})
hang("slots-ring", "process-shared semaphore", "h7_slots_ring.c", cycle("main", "filler"), CIRCLE + "|semaphore|futex|sem_wait|slot|" + NEVER,
     "slots were not given back: main waits for a full one, the filler for an empty one", {"main": "futex", "filler": "futex"}, also=[role("main"), ranks(0), NOBODY])
hang("health-circle", "poll", "h7_health_circle.py", cycle("rank0", "rank1", "rank2"), CIRCLE + r"|poll|sleep|http|health|register|ready|503|loop|" + NEVER,
     "rank 0 is ready when all are registered, they register when it is ready", all_of(3, "~nanosleep"), also=[ranks(0), ranks(1, 2), role("rank0"), outside(r"127\.0\.0\.1:\d+")])

# Healthy ones
quiet("q-filelock-prep", "flock", "h7_q_filelock_prep.py", 68, "rank 0 hashes for 62 s under the lock", "cache is built under a lock")
quiet("q-barrier-late", "mp barrier", "h7_q_barrier_late.py", 69, "worker 2 multiplies for 64 s", "late process at a barrier", needs=["numpy"])
quiet("q-zstd-fed", "pipe", "h7_q_zstd_fed.sh", 67, "the source sleeps for 64 s", "download through zstd", needs=["bash", "zstd"])
quiet("q-grpc-streams", "grpc", "h7_q_grpc_streams.py", 78, "both streams end after 66 s", "full pool of a gRPC server", needs=["grpc"])
quiet("q-evaluator", "file", "h7_q_evaluator.py", 68, "the evaluator computes for 62 s", "trainer and evaluator by files")
quiet("q-trial-late", "sqlite", "h7_q_trial_late.py", 71, "trial 1 sleeps for 65 s", "search over parameters")
quiet("q-ring-slow", "shared memory", "h7_q_ring_slow.py", 75, "the writer sleeps for 64 s", "ring in shared memory", needs=["numpy"])
quiet("q-retry-after", "sleep", "h7_q_retry_after.py", 71, "sleeps for 64 s, as the server wants", "rate limit of an API")
quiet("q-server-idle", "asyncio", "h7_q_server_idle.py", 75, "the client works elsewhere for 70 s", "idle server of one worker")
quiet("q-paced", "tcp recv", "h7_q_paced.py", 68, "a batch each 22 s", "ranks paced by a quota")
quiet("q-exec", "child", "h7_q_exec.go", 70, "a child sleeps for 65 s", "child between epochs in Go")
quiet("q-index", "condition", "h7_q_index.cpp", 65, "a thread sorts for 62 s", "index in C++")
quiet("q-hash", "node", "h7_q_hash.js", 66, "a child derives keys for 63 s", "message of a child in Node")
quiet("q-mpi-saves", "mpi", "3 h7_q_mpi_saves.py", 69, "rank 1 writes 6 KB a second for 63 s", "checkpoint in MPI", needs=["mpi4py", "mpiexec"])
quiet("q-rollout-long", "mp queue", "h7_q_rollout_long.py", 72, "an episode takes 66 s in steps of 0.1 s", "learner and actors")
quiet("q-ps-worker", "tcp recv", "h7_q_ps_worker.py", 70, "worker 3 computes for 63 s", "server of parameters")
quiet("q-loop-executor", "asyncio", "h7_q_loop_executor.py", 70, "a thread of rank 0 computes for 62 s", "executor of asyncio")
quiet("q-zmq-rep", "zeromq", "h7_q_zmq_rep.py", 67, "the solver computes for 62 s", "request over ZeroMQ", needs=["zmq", "numpy"])
quiet("q-upload-slow", "tcp send", "h7_q_upload_slow.py", 70, "the store takes 256 KB a second", "upload to a slow store")
quiet("q-cool-down", "sleep", "h7_q_cool_down.py", 89, "sleeps for 80 s by plan", "pause between phases", needs=["tqdm"])
quiet("q-saver-join", "thread join", "h7_q_saver_join.py", 70, "a thread writes 64 KB a second for 65 s", "last checkpoint", needs=["tqdm"])
quiet("q-flush-timed", "condition", "h7_q_flush_timed.py", 78, "waits with a limit of 35 s, the producer sleeps for 70 s", "writer of metrics")
quiet("q-tasks-java", "future", "h7_q_Tasks.java", 66, "a thread computes for 62 s", "future in Java", needs=["java", "javac"])
quiet("q-feeder", "pipe", "h7_q_feeder.c", 72, "the child sleeps for 66 s", "records by a pipe in C")
quiet("q-claim-late", "poll", "h7_q_claim_late.rs", 69, "the holder of the last task sleeps for 68 s", "tasks claimed by files")
quiet("q-pool-tail", "future", "h7_q_pool_tail.py", 68, "one worker computes for 64 s", "last document of a pool")
quiet("q-gzip-drip", "pipe", "h7_q_gzip_drip.py", 73, "gzip gets a line each 2 s for 70 s", "slow input of gzip")
quiet("q-capture-tool", "pipe", "h7_q_capture_tool.py", 69, "a helper of the script sleeps for 65 s", "output of a script")

if __name__ == "__main__":
    BOOK.write("truth7.json")
