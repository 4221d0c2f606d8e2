"""Healthy programs. B(name, wait, program and arguments, seconds, why_quiet, about, needs)"""
CASES = []


def B(name, wait, run, seconds, why, about, needs=()):
    CASES.append({"name": name, "class": "benign", "wait": wait, "run": run if isinstance(run, list) else py(run), "needs": list(needs),
                  "seconds": seconds, "truth": {"why_quiet": why}, "about": about})


def py(s):
    f, *a = s.split()
    return ["{python}", "{here}/programs/%s.py" % f] + a


B("ckpt-tcp-60", "tcp recv", "star_ckpt 60", 67, "rank 0 writes a checkpoint for 60 s, the others wait for its sum", "a large checkpoint on a slow disk")
B("ckpt-tcp-85", "tcp recv", "star_ckpt 85", 92, "rank 0 writes a checkpoint for 85 s, the others wait for its sum", "a very large checkpoint")
B("ckpt-barrier", "mp.Barrier", "bar_ckpt", 68, "one worker writes for 62 s, the others stand in the barrier", "checkpoint by a rank that is not 0")
B("evaluate-one", "tcp recv", "evaluate_one", 66, "rank 1 computes an evaluation for 60 s", "evaluation on one rank only")
B("first-compile", "wait4 child", "first_compile", 62, "a compiler child works for 58 s before step 0", "compile of the first step")
B("fetch-slow-8k", "tcp recv", "slow_fetch 8000", 69, "rank 2 downloads at 8 KB/s for 62 s", "a slow object store")
B("fetch-slow-1k", "tcp recv", "slow_fetch 1200", 69, "rank 2 downloads at 1.2 KB/s for 62 s", "a nearly dry object store")
B("sleep-window", "nanosleep", "wait_window", 66, "sleeps 60 s by design until its window opens", "job that waits for its time slot")
B("timed-get", "queue timeout", "timed_get", 71, "rank 1 waits with a limit of 65 s for optional data", "optional side input with a time limit")
B("timed-recv", "socket timeout", "timed_sock", 65, "rank 2 waits with a limit of 60 s for an optional message", "optional early stop message")
B("param-slow", "tcp recv", "param_slow", 66, "clients compute (sleep) 20 s between two pushes, the server idles", "parameter server with slow clients")
B("kernel-cells", "select", "kernel_cells", 65, "the person (driver) thinks for 58 s between two cells", "notebook kernel")
B("executor-long", "future", "long_task", 67, "one task of 62 s works in the process pool", "driver that waits for a long task")
B("pool-long", "mp.Pool", "pool_long", 67, "the pool's tasks take a minute each", "batch rendering")
B("long-steps", "nanosleep", "long_steps", 64, "each step takes 30 s", "very slow steps")
B("pack-child", "wait4 child", "pack_data", 65, "rank 1 waits for a child that compresses for 60 s", "packing of logs or data between epochs")
B("lock-worker", "threading.Lock", "lock_work", 66, "a thread of rank 2 works 60 s under the lock", "refresh of a table under a lock")
B("retry-ok", "connect retry", "retry_ok", 70, "rank 0 tries again until the service is up after 64 s", "service that starts late")
B("np-quiet", "cpu", "np_quiet", 64, "numpy computes for 60 s without lines", "quiet numeric phase", ["numpy"])
B("spin-load", "spin flag", "spin_load 58", 66, "rank 0 reads data for 58 s while the others spin on its flag", "spin barrier of an intra-node library")
B("pause-helper", "stopped helper", "pause_helper", 65, "the helper is paused for 58 s and then continued by a timer process", "memory guard that freezes and thaws a helper")
B("early-end", "nanosleep", "early_end", 61, "rank 2 has ended well, the others take 14 s a step", "uneven shards without a last barrier")
B("uneven-data", "socketpair recv", "uneven", 72, "rank 3 still has data for a minute, the others stand at the last barrier", "uneven shards with a last barrier")
B("aio-serve", "epoll", "aio_serve", 68, "the server idles between rare requests", "inference service with few clients")
B("once-lock", "flock", "once_lock", 66, "one rank prepares data for 62 s under the file lock", "download-once pattern")
B("fifo-late", "fifo open", "fifo_late", 66, "the FIFO's writer comes after 60 s", "hand-over from another tool by a FIFO")
B("slow-reader", "pipe full", "slow_reader", 65, "the parent reads slowly on purpose", "back pressure on a converter")
B("http-late", "http response", "http_late", 66, "the service computes 61 s for one answer", "bulk request to an embedding service")
B("long-poll", "http long poll", "xml_poll", 65, "ranks ask again each 10 s until rank 0 has worked for a minute", "key server with long poll")
B("first-batch", "mp.Queue get", "slow_first_batch", 62, "loaders work a minute for their first batch", "index of a data set is built at the start")
B("late-rank", "accept", "late_rank", 65, "rank 2 joins after 61 s", "elastic start")
B("token-bucket", "condition", "token_bucket", 68, "the budget is refilled each 20 s", "rate-limited reader")
B("driver-schedule", "mp.Queue get", "driver_sched", 65, "jobs come by a schedule with a gap of 60 s", "scheduler with idle workers")
B("notify-late", "condition", "notify_late", 66, "a producer thread works 61 s before it notifies", "late producer")
B("backoff", "nanosleep", "backoff", 66, "waits as long as the service asked", "client of a rate-limited service")
B("two-phase", "poll", "two_phase", 65, "ranks 0 and 1 work a minute, ranks 2 and 3 wait in poll for the hand-over", "pipeline with two phases")
B("c-barrier-work", "pthread barrier", ["{bin}/omp_like"], 64, "one thread computes 60 s, the others stand in the barrier", "uneven work in a C library")
B("c-sem-patience", "sem_timedwait", ["{bin}/sem_patience"], 67, "a thread stages for 64 s, main waits in slices of 25 s", "staging in a C program")
B("rust-join", "thread join", ["{bin}/heavy_math"], 63, "a thread computes for 60 s", "tool in Rust with a quiet phase", ["rustc"])
B("go-timer", "go channel", ["{bin}/gather_slow"], 64, "a timer of 61 s feeds the channel", "collector in Go", ["go"])
B("node-idle", "epoll", ["node", "{here}/programs/idle_server.js"], 65, "the next request comes after a minute", "small web service", ["node"])
