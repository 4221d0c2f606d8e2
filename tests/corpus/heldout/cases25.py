"""What is true of each program of programs25; `cases25.py` as a program writes truth25.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, ranks, role
from kitcases import Book

BOOK = Book("h25-", "programs25")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|read|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|gather|select|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
SPIN = "spin|busy|loop|cpu|processor|comput|running|works|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"

# Ranks
hang("last-batch", "tcp recv", "h25_last_batch.py", ranks(2), SUM + ELSEWHERE + "accuracy|epoch|" + CIRCLE,
     "rank 2 has one batch fewer and is in an epoch's end, the others want its gradient",
     {"rank0": "recv>rank3@all_reduce", "rank1": "recv>rank0@all_reduce", "rank2": "recv>rank1@epoch_end", "rank3": "recv>rank2@all_reduce"},
     also=[cycle("rank0", "rank1", "rank2", "rank3")])
hang("nan-skip", "unix read", "h25_nan_skip.py", ranks(1), SUM + ELSEWHERE + "nan|finite|" + CIRCLE,
     "rank 1 has skipped a step, and its sum, for a loss that is not finite",
     {"rank0": "read>rank1@gather", "rank1": "read>rank0@gather", "rank2": "read>rank0@gather"},
     also=[cycle("rank0", "rank1")])
hang("rank0-eval", "unix read", "h25_rank0_eval.py", ranks(0), SUM + ELSEWHERE + "eval|accuracy|" + CIRCLE,
     "rank 0 alone sums a metric over all ranks, which wait at a barrier",
     {"rank0": "read>rank1@evaluate", "rank1": "read>rank0@barrier", "rank2": "read>rank0@barrier", "rank3": "read>rank0@barrier"},
     also=[cycle("rank0", "rank1")], needs=["tqdm"])
hang("metric-order", "mpi", "4 h25_metric_order.py", ranks(2), SUM + SPIN + ELSEWHERE + "mpi|send|report|tag|message|order|" + CIRCLE,
     "rank 2 sends its metrics in another order than rank 0 takes them",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin", "rank3": "spin"}, also=[cycle("rank0", "rank2")],
     needs=["mpi4py", "mpiexec"])
hang("loader-lock", "futex", "h25_loader_lock.py", ranks(1), SUM + FUTEX + GONE + "|loader|queue|batch|kill|" + NEVER,
     "a loader of rank 1 was killed with the lock of a queue, the other one waits for it",
     {"rank0": "read>rank1@gather", "rank1": "*read|futex@batch", "loader1": "*~futex|Z ", "loader0": "*~futex|Z "},
     also=[role("loader0"), role("loader1"), role("loader0", 1), role("loader1", 1)])
hang("prefetch", "futex", "h25_prefetch.py", ranks(1), FUTEX + "queue|batch|get|prefetch|length|" + NEVER,
     "a thread of rank 1 that reads ahead has ended with an error",
     {"rank0": "read>rank1@gather", "rank1": "futex@__next__"}, loud=True)
hang("ckpt-name", "sleep loop", "h25_ckpt_name.py", ranks(1), LOOP + "checkpoint|epoch|ckpt|barrier|" + NEVER,
     "rank 1 looks for a checkpoint under a name that nobody writes",
     {"rank0": "read>rank1@barrier", "rank1": "~nanosleep|select@wait_for_checkpoint"})
hang("agent-left", "tcp recv", "h25_agent_left.py", role("rank1"), SUM + GONE + "|store|key|agent|end|term|" + NEVER,
     "rank 1 takes SIGTERM as a wish, and waits for a key of rank 2, which has failed; the agent waits for rank 1",
     {"agent": "wait4>rank1", "rank1": "recv>store@work", "rank0": "gone", "rank2": "gone", "store": "~epoll|poll|select"},
     also=[ranks(1), role("rank2"), ranks(2), role("store"), role("store", 1)])
hang("baton", "sleep loop", "h25_baton.py", ranks(0), LOOP + FUTEX + "lock|compile|operator|" + NEVER,
     "rank 0 waits until a file is gone that a killed compiler of rank 1 has left",
     {"rank0": "~nanosleep|select@operator", "rank1": "read>rank0@gather"})
hang("opposite", "tcp send", "h25_opposite.py", cycle("rank0", "rank1"), SUM + "send|full|room|both|" + CIRCLE,
     "two stages send to each other, and neither reads",
     {"rank0": "send>rank1@exchange", "rank1": "send>rank0@exchange"}, also=[ranks(0), ranks(1)], needs=["tqdm"])
hang("fewer", "udp recv", "h25_fewer.py", ranks(2), SUM + ELSEWHERE + GONE + "|udp|datagram|lost|" + CIRCLE + "|" + NEVER,
     "rank 2 still sends to rank 3, which has been released",
     {"rank0": "recv@all_reduce", "rank1": "recv@all_reduce", "rank2": "recv@all_reduce", "rank3": "gone"},
     also=[ranks(3), role("rank3"), ranks(0), cycle("rank0", "rank1", "rank2")])
hang("retry-503", "sleep loop", "h25_retry_503.py", ranks(1), LOOP + SUM + "http|503|fetch|store|",
     "rank 1 tries again, and a store that will never be ready answers 503",
     {"rank0": "read>rank1@gather", "rank1": "~nanosleep|select|recv@fetch", "store": "~poll|select|accept@serve_forever"},
     also=[role("store"), role("store", 1), cycle("rank1", "store")])
hang("finalizer", "futex", "h25_finalizer.py", ranks(1), FUTEX + "itself|own|same|finaliz|forget|" + NEVER,
     "a finalizer of rank 1 wants the lock which its thread has", {"rank0": "read>rank1@gather", "rank1": "futex@forget"})
hang("throttle", "stopped", "h25_throttle.py", ranks(2), "stop|SIGSTOP|SIGCONT|paus",
     "rank 2 was stopped by a script that has failed", {"rank0": "read>rank2@gather", "rank1": "read>rank0@gather", "rank2": "stopped", "throttle": "gone"},
     loud=True)
hang("debugger", "accept", "h25_debugger.py", ranks(1), SUM + "accept|listen|connect|debug|attach|" + NEVER,
     "rank 1 waits for a debugger to attach", {"rank0": "recv>rank1@all_reduce", "rank1": "accept@breakpoint_here"}, needs=["tqdm"])
hang("names", "udp recv", "h25_names.py", ranks(0), LOOP + SUM + "udp|datagram|resolve|name|mirror|" + NEVER,
     "rank 0 asks a name server again and again, which does not answer",
     {"rank0": "~recv|poll@resolve", "rank1": "read>rank0@gather", "names": "~recv@serve"},
     also=[role("names"), role("names", 0), cycle("rank0", "names")])
hang("local-stop", "tcp recv", "h25_local_stop.py", ranks(5), SUM + ELSEWHERE + "end|early|" + CIRCLE,
     "rank 5 has stopped early and is at the last barrier, the others want its gradient",
     {"rank0": "recv>rank7@all_reduce", "rank5": "recv>rank4@barrier", "rank6": "recv>rank5@all_reduce"},
     also=[cycle("rank0", "rank1", "rank2", "rank3", "rank4", "rank5", "rank6", "rank7")])
hang("grpc-stream", "grpc", "h25_grpc_stream.py", cycle("rank1", "scorer"), SUM + FUTEX + "grpc|stream|score|" + CIRCLE,
     "a service waits for the end of a stream, rank 1 for a score",
     {"rank0": "read>rank1@gather", "rank1": "*~futex|poll|epoll@score", "scorer": "*~futex@score"},
     also=[ranks(1), role("scorer"), role("scorer", 1)], needs=["grpc"])

# Preparation, inference, evaluation, searches
hang("fork-log", "futex", "h25_fork_log.py", role("worker"), FUTEX + "fork|journal|pool|" + NEVER,
     "forked workers have a lock that a thread held which they do not have",
     {"main": "*futex", "worker": "futex@add"}, also=[role("main"), role("worker", 0), ranks(0)])
hang("tracker", "pipe", "h25_tracker.py", role("service"), SUM + "pipe|full|write|tracker|service|" + CIRCLE,
     "a service does not answer a tracker, which reads its pipe no more",
     {"main": "write>tracker@train", "tracker": "recv>service@track", "service": "nanosleep|select@service"},
     also=[role("tracker"), role("tracker", 0), role("service", 0), cycle("tracker", "service"), cycle("main", "tracker")], needs=["tqdm"])
hang("tokenizer", "futex", "h25_tokenizer.py", role("part0"), FUTEX + "fork|pool|executor|encode|" + NEVER,
     "forked processes use a pool whose threads they do not have",
     {"main": "*read|futex", "part0": "futex@encode_batch", "part1": "futex@encode_batch"},
     also=[role("part1"), role("part0", 0), role("part1", 0), role("main"), ranks(0)])
hang("data-client", "tcp recv", "h25_data_client.py", role("server"), SUM + "connect|held|hold|uploader|inherit|copy|" + NEVER,
     "a server waits for a request of a trial that has ended, whose connection an uploader has; the next trial for being accepted",
     {"main": "wait4>trial1", "server": "recv>uploader@serve", "trial1": "recv@trial", "trial0": "gone"},
     also=[role("uploader"), role("uploader", 0), role("server", 0), cycle("trial1", "server"), cycle("server", "uploader")])
hang("batcher", "poll loop", "h25_batcher.py", role("server"), SUM + LOOP + "epoll|batch|" + CIRCLE + "|" + NEVER,
     "a server waits for eight questions, its client for the answers to five",
     {"main": "~epoll", "server": "epoll"}, also=[role("main"), ranks(0), role("server", 0), cycle("main", "server")], needs=["tqdm"])
hang("atexit", "futex", "h25_atexit.py", role("main"), FUTEX + "queue|exit|shutdown|finish|metrics|" + NEVER,
     "a training has ended but for a thread that waits for metrics", {"main": "*futex@write"})
hang("manager-lock", "futex", "h25_manager_lock.py", role("counter2"), SUM + FUTEX + GONE + "|kill|manager|" + NEVER,
     "a process was killed with a lock of a manager, the others ask for it",
     {"main": "read|futex", "counter0": "read>manager@count", "counter1": "read>manager@count", "counter2": "gone", "manager": "*futex"},
     also=[role("manager"), role("manager", 0), role("counter2", 0)], needs=["tqdm"])
hang("overwrite", "pty", "h25_overwrite.py", role("unpacker"), SUM + "tty|terminal|pty|input|ask|question|stdin|replace|" + CIRCLE + "|" + NEVER,
     "an unpacker asks at a terminal that its parent only reads",
     {"main": "read@unpack", "unpacker": "read"}, also=[role("unpacker", 0), cycle("main", "unpacker"), role("main"), ranks(0)])
hang("screen", "pty", "h25_screen.py", cycle("main", "screen", "packer"), SUM + FUTEX + LOOP + "flock|tty|terminal|pty|write|full|" + CIRCLE,
     "a terminal's keeper waits for a file's lock, its holder for the end of main, which writes to the terminal",
     {"main": "write@train", "screen": "flock>packer@screen", "packer": "~nanosleep|select@pack"},
     also=[role("screen"), role("screen", 0), role("packer"), role("packer", 0)])
hang("init-barrier", "futex", "h25_init_barrier.py", role("loader"), SUM + FUTEX + "barrier|initializ|pool|" + NEVER,
     "two workers wait at a barrier of four, and no more are started",
     {"main": "*futex", "loader": "futex@load"}, also=[role("loader", 0), role("main"), ranks(0)], needs=["tqdm"])
hang("zmq-lost", "zmq", "h25_zmq_lost.py", role("main"), SUM + "zmq|zeromq|answer|worker|" + GONE + "|" + NEVER,
     "a worker has left with prompts that it was given, whose answers main waits for",
     {"main": "poll@infer", "worker0": "poll@work", "worker1": "gone"},
     also=[ranks(0), role("worker1"), role("worker1", 0), cycle("main", "worker0")], needs=["zmq", "tqdm"])
hang("drop-barrier", "futex", "h25_drop_barrier.cpp", role("main"), FUTEX + "barrier|" + NEVER,
     "a thread has left without giving up its place at a barrier", {"main": "*futex"})
hang("wait-group", "futex", "h25_wait_group.go", role("main"), FUTEX + "WaitGroup|semacquire|" + NEVER,
     "a goroutine has left without Done", {"main": "*~futex"})
hang("gate", "futex", "h25_gate.rs", role("main"), FUTEX + "gate|panic|batch|" + NEVER,
     "a loader's thread has panicked, main waits for its batch", {"main": "futex"})
hang("slots", "sleep loop", "h25_slots.sh", cycle("encode-a", "encode-b", "make"), LOOP + FUTEX + "child|job|slot|vocabulary|" + CIRCLE + "|" + NEVER,
     "two rules look for the file of a third, for which make has no place",
     {"main": "wait4", "make": "~read|wait4|pselect", "encode-a": "~wait4", "encode-b": "~wait4"},
     also=[role("encode-a"), role("encode-b"), role("encode-a", 0), role("encode-b", 0), role("make"), role("make", 0)])
hang("monitor", "wait4", "h25_monitor.sh", role("monitor"), LOOP + "wait|child|monitor|" + NEVER,
     "a script waits for all its children, of which one is a monitor",
     {"main": "wait4>monitor", "monitor": "~wait4"}, also=[role("main"), ranks(0), role("monitor", 0)])

# Healthy ones
quiet("q-rank0-eval", "unix read", "h25_rank0_eval.py slow", 105, "rank 0 evaluates for 70 s", "the others wait at a barrier", needs=["tqdm"])
quiet("q-metric-order", "mpi", "4 h25_metric_order.py slow", 98, "rank 2 computes metrics for 66 s", "the others wait, rank 0 for them",
      needs=["mpi4py", "mpiexec"])
quiet("q-ckpt-name", "sleep loop", "h25_ckpt_name.py slow", 105, "rank 0 writes a checkpoint for 72 s", "rank 1 looks for it")
quiet("q-tracker", "pipe", "h25_tracker.py slow", 105, "a service answers after 75 s", "a tracker's pipe is full", needs=["tqdm"])
quiet("q-baton", "sleep loop", "h25_baton.py slow", 100, "a compiler works for 68 s", "rank 0 waits until its file is gone")
quiet("q-opposite", "tcp recv", "h25_opposite.py slow", 95, "stage 1 evaluates for 64 s", "stage 0 waits for its tensor", needs=["tqdm"])
quiet("q-batcher", "poll loop", "h25_batcher.py slow", 95, "a batch takes 62 s", "the client's time limit strikes, it waits on", needs=["tqdm"])
quiet("q-retry-503", "sleep loop", "h25_retry_503.py slow", 105, "a store warms up for 70 s", "rank 1 tries again, rank 0 waits in a sum")
quiet("q-throttle", "stopped", "h25_throttle.py slow", 100, "a script goes on with rank 2 after 66 s", "rank 2 is stopped")
quiet("q-debugger", "accept", "h25_debugger.py slow", 105, "a helper attaches after 74 s", "rank 1 waits for it", needs=["tqdm"])
quiet("q-overwrite", "pty", "h25_overwrite.py slow", 90, "an archive takes 63 s", "main reads from a terminal")
quiet("q-screen", "pty", "h25_screen.py slow", 95, "logs are packed for 70 s", "a terminal's keeper waits for a file's lock")
quiet("q-names", "udp recv", "h25_names.py slow", 98, "a name server answers again after 66 s", "rank 0 asks again, rank 1 waits in a sum")
quiet("q-init-barrier", "futex", "h25_init_barrier.py slow", 90, "a worker loads for 58 s", "the other waits at a barrier", needs=["tqdm"])
quiet("q-zmq-lost", "zmq", "h25_zmq_lost.py slow", 90, "a prompt takes 60 s", "main waits for its answer", needs=["zmq", "tqdm"])
quiet("q-grpc-stream", "grpc", "h25_grpc_stream.py slow", 106, "a score takes 76 s", "rank 1 waits for it", needs=["grpc"])
quiet("q-drop-barrier", "futex", "h25_drop_barrier.cpp slow", 90, "a thread evaluates for 62 s", "three wait at a barrier")
quiet("q-wait-group", "futex", "h25_wait_group.go slow", 105, "a shard is fetched anew for 78 s", "main waits for its goroutine")
quiet("q-gate", "futex", "h25_gate.rs slow", 84, "a batch is repaired for 57 s", "main waits for it")
quiet("q-slots", "sleep loop", "h25_slots.sh slow", 91, "an encoding takes 65 s", "make waits for it")
quiet("q-compile", "wait4", "h25_q_compile.py", 98, "a compiler computes for 67 s", "rank 1 waits for it, rank 0 for rank 1")
quiet("q-download", "http", "h25_q_download.py", 102, "a part comes slowly, for 75 s", "main reads its answer", needs=["tqdm"])
quiet("q-quota", "sleep", "h25_q_quota.py", 98, "a quota is used up for 70 s", "main sleeps as it was told")
quiet("q-deadline", "futex", "h25_q_deadline.py", 92, "a time limit of 65 s strikes", "main waits for a batch that does not come")
quiet("q-ask", "fifo", "h25_q_ask.sh", 101, "a person answers after 72 s", "a script waits for an answer")
quiet("q-joins", "sleep loop", "h25_q_joins.sh", 100, "rank 2 is started anew after 70 s", "the others look for its word")

if __name__ == "__main__":
    BOOK.write("truth25.json")
