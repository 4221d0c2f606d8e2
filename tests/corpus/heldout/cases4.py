"""What is true of each program of programs4; `cases4.py` as a program writes truth4.json. `see`: check4.py."""
import json
import os

CASES = []


def hang(name, wait, run, culprit, why, about, see, also=(), **more):
    truth = {"culprit": culprit, "why": why.split("|")}
    if culprit == role("main") and list(see) == ["main"]:
        also = [*also, ranks(0)]  # a job of one process
    if also:
        truth["also"] = list(also)
    for key in ("gone", "proved"):
        if key in more:
            truth[key] = more.pop(key)
    CASES.append({"name": "h4-" + name, "class": "hang", "wait": wait, "run": command(run), "needs": needs(run, more.pop("needs", ())),
                  "truth": truth, "about": about, "see": see, **more})


def quiet(name, wait, run, seconds, why, about, **more):
    CASES.append({"name": "h4-" + name, "class": "benign", "wait": wait, "run": command(run), "needs": needs(run, more.pop("needs", ())),
                  "seconds": seconds, "truth": {"why_quiet": why}, "about": about, **more})


def command(run):
    """"x.py ..." with python, "x.js" with node, "x.c N" and other sources compiled, N > 0 of them as ranks (N- : by argument)."""
    words = run.split()
    stem, _, kind = words[0].rpartition(".")
    if kind == "py":
        return ["{python}", "{here}/programs4/" + words[0], *words[1:]]
    own = ["node", "{here}/programs4/" + words[0]] if kind == "js" else ["{bin}/" + stem]
    if words[1:] and words[1].rstrip("-").isdigit():
        how = ["--arg"] if words[1].endswith("-") else []
        return ["{python}", "{here}/programs4/kit4.py", words[1].rstrip("-"), *how, "--", *own]
    return own + words[1:]


def needs(run, others):
    kind = run.split()[0].rpartition(".")[2]
    return {"rs": ["rustc"], "go": ["go"], "js": ["node"], "c": ["gcc"], "cpp": ["g++"]}.get(kind, []) + list(others)


def ranks(*r):
    return {"ranks": list(r)}


def role(name, of=None):
    return {"role": name} if of is None else {"role": name, "of_rank": of}


def cycle(*names):
    return {"cycle": list(names)}


def outside(regex):
    return {"outside": regex}


NEVER = "never|nobody|no one|none (is )?left|no other|lost"
CIRCLE = "each other|circle|cycle|deadlock"
GONE = "ended|exited|gone|left|dead|died|killed|SIGKILL|no longer|finished"

# Messages over TCP, UDP and unix sockets, pipes
hang("ring-short", "tcp recv", "h4_ring_short.py", ranks(3), "barrier|recv|tcp|not in|elsewhere|train|" + CIRCLE,
     "rank 3 has fewer batches and is in the last barrier, the others in the ring's all-reduce",
     {"rank0": "recvfrom>rank3@Ring|reduce", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank1", "rank3": "recvfrom>rank0@h4_ring_short.py:2[0-9]"},
     also=[cycle("rank0", "rank1", "rank2", "rank3"), cycle("rank0", "rank3")])
hang("left-early", "unix recv", "h4_left_early.py", ranks(3), GONE,
     "rank 3 left with 0 when its files were used up; its socket is still open elsewhere",
     {"rank3": "gone", "rank0": "recvfrom", "rank1": "recvfrom", "rank2": "recvfrom"}, gone=True, also=[role("rank3")])
hang("tree-fifo", "fifo open", "h4_tree_fifo.py", ranks(5), r"fifo|labels\.5|no writer|nobody|writer|open",
     "rank 5 opens its FIFO for a second epoch, the thread that wrote it has ended",
     {"rank5": "openat wait_for_partner", "rank2": "recvfrom>rank5", "rank0": "recvfrom", "rank6": "recvfrom>rank2", "rank3": "recvfrom>rank1"},
     also=[role("rank5", 5), outside(r"labels\.5")])
hang("star-protocol", "tcp recv", "h4_star_protocol.py", cycle("rank0", "rank1"), CIRCLE + "|recv|tcp",
     "rank 0 waits for rank 1's gradient, rank 1 for weights of rank 0",
     {"rank0": "recvfrom>rank1", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0", "rank3": "recvfrom>rank0"}, also=[ranks(1), ranks(0)])
hang("udp-lost", "udp recv", "h4_udp_lost.py", cycle("rank0", "rank2"), "udp|datagram|recv|socket|" + CIRCLE + "|" + NEVER,
     "a datagram of rank 2 was too large to be sent; rank 0 waits for it and rank 2 for the answer",
     {"rank0": "recvfrom __skb_wait", "rank1": "recvfrom __skb_wait", "rank2": "recvfrom __skb_wait"},
     also=[ranks(2), ranks(0), cycle("rank0", "rank1", "rank2")])
hang("rendezvous-refused", "connect", "h4_rendezvous_refused.py", outside("29417"), "refused|29417|connect|nobody listens|retr",
     "all ranks ask a port where nobody listens, again and again; it stands in a log file only",
     {"rank0": "~nanosleep", "rank1": "~nanosleep", "rank2": "~nanosleep"}, loud=True)
hang("coordinator-died", "connect", "h4_coordinator_died.py", role("coordinator"), "refused|killed|SIGKILL|died|gone|ended|connect",
     "the coordinator was killed, workers connect again for ever", {"coordinator": "gone", "rank0": "~nanosleep@ask", "rank1": "~nanosleep@ask"},
     gone=True, also=[outside(r"127\.0\.0\.1:\d+.*refused|refused.*127\.0\.0\.1:\d+")])
hang("server-stopped", "tcp recv", "h4_server_stopped.py", role("server"), "stopped|SIGSTOP|suspended", "the lookup server is stopped by a signal",
     {"server": "stopped", "main": "recvfrom>server"})
hang("broadcast-full", "tcp send", "h4_broadcast_full.py", ranks(2), "lock|itself|deadlock|already",
     "rank 2 takes a lock that it holds; rank 0's broadcast fills its socket",
     {"rank2": "futex@flush", "rank0": "sendto>rank2", "rank1": "recvfrom>rank0", "rank3": "recvfrom>rank0"})
hang("all-send", "tcp send", "h4_all_send.py", cycle("rank0", "rank1", "rank2", "rank3", "rank4"), CIRCLE + "|send|full",
     "all five send more than the sockets hold before anyone receives",
     {"rank%d" % r: "sendto>rank%d" % ((r + 1) % 5) for r in range(5)})
hang("extra-batch", "tcp recv", "h4_extra_batch.py", ranks(1), "recv|tcp|reduce|batch|" + CIRCLE,
     "rank 1 does one all-reduce more; the others look for its file at the epoch's end",
     {"rank1": "recvfrom>rank0", "rank0": "~nanosleep@epoch_barrier", "rank2": "~nanosleep@epoch_barrier", "rank3": "~nanosleep@epoch_barrier"},
     also=[cycle("rank0", "rank1")])
hang("stale-lock-file", "lock file", "h4_stale_lock_file.py", ranks(3), r"lock|sleep|index\.lock|retr",
     "rank 3 waits for a lock file of an old run before it joins; rank 0 waits in accept",
     {"rank3": "~nanosleep@__enter__", "rank0": "accept", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"},
     also=[role("rank3", 3), outside(r"index\.lock")])
hang("short-frame", "tcp recv", "h4_short_frame.py", cycle("rank0", "rank2"), CIRCLE + "|recv|tcp|unframe",
     "rank 2 announces more bytes than it sends: rank 0 waits for the rest, rank 2 for the answer",
     {"rank0": "recvfrom>rank2@unframe", "rank2": "recvfrom>rank0@unframe", "rank1": "recvfrom>rank0", "rank3": "recvfrom>rank0"},
     also=[ranks(2), ranks(0), role("rank2", 2)])
hang("metrics-dgram", "unix send", "h4_metrics_dgram.py", role("collector"), "collector|full|unix|socket|metrics|" + NEVER,
     "the thread of the collector that reads has ended; rank 1's datagrams fill its queue",
     {"collector": "futex@collect", "rank1": "sendto", "rank0": "recvfrom>rank2", "rank2": "recvfrom>rank1"})
hang("tool-stderr", "pipe", "h4_tool_stderr.py", cycle("main", "tool"), CIRCLE + "|pipe|full|stderr",
     "the tool fills the pipe of its warnings, the parent reads its output to the end first",
     {"main": "read>tool", "tool": "write>main"}, also=[role("main"), role("tool")])

hang("eof-never", "pipe", "h4_eof_never.py", cycle("main", "worker"), CIRCLE + "|pipe|itself|EOF|end of file|write end",
     "the forked counter has a copy of the writing end itself, so that its input never ends; the parent waits for it",
     {"worker": "read anon_pipe_read|read pipe_read", "main": "wait4>worker"}, also=[role("worker"), role("main")])
hang("profile-fifo", "fifo open", "h4_profile_fifo.py", ranks(2), r"fifo|reader|open|profile|nobody",
     "rank 2 opens a FIFO that nobody reads", {"rank2": "openat wait_for_partner", "rank0": "recvfrom>rank2", "rank1": "recvfrom>rank0", "rank3": "recvfrom>rank0"},
     also=[role("rank2", 2), outside(r"profile\.fifo")])
hang("stages-lock", "flock", "h4_stages_lock.py", cycle("main", "decoder", "tokenizer"), CIRCLE + "|lock|pipe",
     "the decoder waits for the dictionary's lock that the trainer has, who waits for the decoder's pictures",
     {"main": "read>tokenizer", "tokenizer": "read>decoder", "decoder": "flock>main"}, also=[cycle("main", "decoder"), role("main")])
hang("tee-archiver", "pipe", "h4_tee_archiver.py", role("archiver"), "signal|sigwait|fifo|pipe|archive",
     "the archiver at the far end of tee waits for a signal that nobody sends",
     {"archiver": "sigtimedwait", "tee": "write>archiver", "main": "read>tee", "generator": "write>tee"})
hang("local-server", "unix recv", "h4_local_server.py", ranks(1), "event|lock|wait|" + NEVER,
     "the prefetching thread of rank 1 has ended; the server waits for rank 1, the others for the server",
     {"rank1": "futex@wait .*threading", "server": "recvfrom>rank1", "rank0": "recvfrom|connect|sendto", "rank2": "recvfrom|connect|sendto"})
hang("pair-both", "unix recv", "h4_pair_both.py", cycle("main", "evaluator"), CIRCLE + "|recv|unix|socket",
     "the evaluator swallowed an error and waits for the next question, the search for its answer",
     {"main": "recvfrom>evaluator", "evaluator": "recvfrom>main"}, also=[role("evaluator"), role("main")])

# multiprocessing
hang("loader-gone", "mp queue", "h4_loader_gone.py", role("worker1"), GONE + "|" + NEVER, "one of four loader processes has left with 0, its batch never comes",
     {"worker1": "gone", "main": "read@get .*queues", "worker0": "read"}, gone=True)
hang("ready-go", "mp event", "h4_ready_go.py", cycle("main", "worker"), CIRCLE + "|event|" + NEVER, "each waits for the other's event",
     {"main": "futex@wait ", "worker": "futex@wait "}, also=[role("main"), role("worker")])
hang("barrier-missing", "mp barrier", "h4_barrier_missing.py", ranks(1), GONE + "|barrier", "rank 1 met a bad file and returned, the others are at the barrier",
     {"rank1": "gone", "rank0": "futex@wait ", "rank2": "futex@wait ", "rank3": "futex@wait "}, gone=True, also=[role("rank1")])
hang("pool-killed", "mp pool", "h4_pool_killed.py", role("lost"), "killed|SIGKILL|died|dead|gone|ended|lost", "a worker of the pool was killed in its task; the pool has a new one, the task is lost",
     {"lost": "gone", "main": "futex@(map|get|wait) "}, gone=True)
hang("movers-abba", "mp lock", "h4_pool_abba.py", cycle("mover-a", "mover-b"), CIRCLE + "|lock", "two processes take two locks in opposite order",
     {"mover-a": "futex@move ", "mover-b": "futex@move ", "main": "wait4"})
hang("manager-lock", "mp manager", "h4_manager_lock.py", role("worker2"), GONE + "|lock", "a worker was killed with the manager's lock",
     {"worker2": "gone", "worker0": "read>manager", "worker1": "read>manager"}, gone=True, also=[role("manager")])
hang("join-first", "mp queue", "h4_join_first.py", cycle("main", "child"), CIRCLE + "|pipe|full|queue|join",
     "the child cannot end before its queue is read, the parent reads after its end",
     {"main": "wait4>child", "child": "*write"}, also=[role("main"), role("child")])
hang("notify-early", "mp condition", "h4_notify_early.py", role("consumer"), "condition|notif|wait|" + NEVER, "a notification came before the consumer waited; nobody is left to give another",
     {"consumer": "futex@wait ", "main": "wait4>consumer"}, also=[role("main")])
hang("tokens-lost", "mp semaphore", "h4_tokens_lost.py", {"nobody": "semaphore|" + NEVER}, "semaphore|" + NEVER + "|lock", "jobs that failed have not given their tokens back; all others wait for one",
     {"job15": "futex@job "}, also=[role("job1"), role("job4"), role("job9"), role("job15")])
hang("shm-flag", "spin", "h4_shm_flag.py", ranks(2), "queue|pipe|read|nobody|never|empty", "rank 2 has no more loads in its queue, the others look at a flag without end",
     {"rank2": "read@get ", "rank0": "spin", "rank1": "spin"})
hang("fork-inherits", "fork", "h4_fork_inherits.py", role("worker"), "fork|inherit|lock", "the worker inherited a lock that a thread held when it was forked",
     {"worker": "futex@log ", "main": "read>worker"}, loud=True)
hang("pool-in-pool", "futures", "h4_pool_in_pool.py", role("main"), "pool|future|result|executor|" + CIRCLE + "|" + NEVER, "all threads of a pool wait for tasks that wait for a thread of it",
     {"main": "*futex@tokenize "})

# threads, futures, signals
hang("future-nobody", "future", "h4_future_nobody.py", role("main"), "future|result|" + NEVER, "the thread that completes the futures has ended", {"main": "futex@predict "})
hang("saver-lock", "future", "h4_saver_lock.py", ranks(1), CIRCLE + "|lock|future", "rank 1 waits for its saving thread and has the lock that this thread wants",
     {"rank1": "*futex@result ", "rank0": "recvfrom>rank3", "rank2": "recvfrom>rank1", "rank3": "recvfrom>rank2"})
hang("cache-abba", "lock", "h4_cache_abba.py", ranks(2), CIRCLE + "|lock", "two threads of rank 2 take two locks in opposite order",
     {"rank2": "futex@evict ", "rank0": "recvfrom>rank2", "rank1": "recvfrom>rank0", "rank3": "recvfrom>rank0"}, proved=True, also=[role("rank2", 2)])
hang("flock-abba", "flock", "h4_flock_abba.py", cycle("rank0", "rank1"), CIRCLE + "|lock", "ranks 0 and 1 lock two files in opposite order",
     {"rank0": "flock>rank1", "rank1": "flock>rank0", "rank2": "recvfrom>rank0", "rank3": "recvfrom>rank0"})
hang("window-cond", "condition", "h4_window_cond.py", ranks(3), "condition|wait_for|lock|" + NEVER, "the thread of rank 3 that makes room has ended",
     {"rank3": "futex@enter ", "rank1": "recvfrom>rank3", "rank0": "recvfrom>rank1", "rank2": "recvfrom>rank0", "rank4": "recvfrom>rank1"})
hang("slots-threads", "semaphore", "h4_slots_threads.py", role("main"), "semaphore|acquire|lock|join|" + NEVER, "failed downloads have kept their slots",
     {"main": "*futex@fetch "})
hang("writer-queue-full", "queue put", "h4_writer_queue_full.py", ranks(0), "queue|full|put|" + NEVER, "the thread that writes images has ended, the queue to it is full",
     {"rank0": "futex@put ", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"}, also=[role("rank0", 0)])
hang("task-done", "queue join", "h4_task_done.py", ranks(1), "queue|join|condition|" + NEVER, "an item of rank 1's queue was never marked as done",
     {"rank1": "futex@join .*queue", "rank2": "recvfrom>rank1", "rank0": "recvfrom>rank2"})
hang("threads-barrier", "barrier", "h4_threads_barrier.py", role("main"), "barrier|" + NEVER, "three threads are at a barrier for four, the fourth has returned",
     {"main": "*futex@normalise "})
hang("join-without-sentinel", "thread join", "h4_join_without_sentinel.py", ranks(2), "join|queue|thread|" + NEVER, "rank 2 joins a thread that waits for an item that comes after the join",
     {"rank2": "futex@join ", "rank0": "recvfrom>rank2", "rank1": "recvfrom>rank0", "rank3": "recvfrom>rank0"})
hang("log-server", "tcp send", "h4_log_server.py", role("rotator"), "lock|flock|rotat", "who rotates logs keeps the lock for ever; the log server waits for it, all threads of the trainer for the server",
     {"rotator": "futex@rotate ", "logserver": "flock>rotator", "main": "*sendto>logserver"}, also=[role("logserver")])
hang("signal-lock", "lock", "h4_signal_lock.py", ranks(1), "lock|itself|signal|handler|already", "a signal handler of rank 1 takes the lock that the interrupted code holds",
     {"rank1": "futex@save ", "rank2": "recvfrom>rank1", "rank0": "recvfrom>rank2"}, also=[role("rank1", 1)])
hang("resume-signal", "sigwait", "h4_resume_signal.py", ranks(0), "signal|sigwait|SIGUSR1", "rank 0 waits for a signal of a person",
     {"rank0": "sigtimedwait", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0", "rank3": "recvfrom>rank0"})
hang("scheduler-stop", "stopped", "h4_scheduler_stop.py", ranks(2), "stopped|SIGSTOP|suspended", "a scheduler that has ended left rank 2 stopped",
     {"rank2": "stopped", "rank3": "recvfrom>rank2", "rank0": "recvfrom>rank3", "rank1": "recvfrom>rank0", "scheduler": "gone"})

# asyncio
hang("aio-server", "asyncio", "h4_aio_server.py", ranks(0), "asyncio|event loop|epoll|task|queue|" + NEVER, "the producing task of rank 0 has failed unseen",
     {"rank0": "epoll_wait@_run_once|select", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"})
hang("aio-abba", "asyncio", "h4_aio_abba.py", role("main"), CIRCLE + "|task|asyncio|lock", "two tasks take two asyncio locks in opposite order", {"main": "epoll_wait"})
hang("aio-future", "asyncio", "h4_aio_waits_future.py", role("main"), "future|task|asyncio|event loop|" + NEVER, "futures are overwritten and are never completed", {"main": "epoll_wait"})
hang("aio-blocked", "queue get", "h4_aio_blocked.py", role("main"), "queue|event loop|asyncio|block|" + NEVER, "the event loop stands in a get() that only the loop could satisfy",
     {"main": "futex@trainer "})
hang("aio-tool", "child", "h4_aio_tool.py", cycle("main", "tool"), CIRCLE + "|pipe|full|write", "the tool fills a pipe that is read after its end",
     {"tool": "write>main", "main": "epoll_wait"}, also=[role("main"), role("tool")])

# locks of files, event descriptors
hang("leftover-lock", "flock", "h4_leftover_lock.py", role("indexer"), "flock|lock|cache", "an indexer left behind has the lock that rank 1 wants, and waits for a connection",
     {"indexer": "accept", "rank1": "flock>indexer", "rank0": "recvfrom>rank1", "rank2": "recvfrom>rank0"})
hang("lockf-barrier", "posix lock", "h4_lockf_barrier.py", cycle("rank0", "rank1"), CIRCLE + "|lock", "rank 0 is at the barrier with the lock that the others want first",
     {"rank0": "recvfrom>rank1", "rank1": "fcntl>rank0", "rank2": "fcntl>rank0", "rank3": "fcntl>rank0"},
     also=[ranks(0), cycle("rank0", "rank1", "rank2", "rank3")])
hang("eventfd-pair", "eventfd", "h4_eventfd_pair.py", cycle("main", "decoder"), CIRCLE + "|eventfd|" + NEVER, "a skipped buffer is never given back; each waits for the other's event",
     {"main": "read", "decoder": "read"}, also=[role("decoder"), role("main")])
hang("mkdir-lock", "lock file", "h4_mkdir_lock.py", role("main"), r"lck|lock|sleep|retr|build", "an old build has left a directory that is a lock", {"main": "~nanosleep"},
     also=[outside(r"fused_adam|\.lck")])
hang("sqlite-held", "sqlite", "h4_sqlite_held.py", ranks(2), r"lock|study\.db|sqlite|sleep|" + CIRCLE, "rank 2 waits for the others within a transaction, which they wait for",
     {"rank2": "~nanosleep@train ", "rank0": "~nanosleep", "rank1": "~nanosleep"},
     also=[role("rank2", 2), cycle("rank0", "rank1", "rank2"), outside(r"study\.db")])

# SysV, POSIX, shared memory, other languages
hang("sysv-types", "msgrcv", "h4_sysv_types.c", cycle("main", "worker"), CIRCLE + "|msgrcv|message queue|" + NEVER, "the worker answers with a type that nobody asks for",
     {"main": "msgrcv", "worker": "msgrcv"}, also=[role("worker"), role("main")])
hang("sysv-holder", "semop", "h4_sysv_holder.c", role("user1"), "semaphore|semop|" + GONE, "a process left with 0 while it had the semaphore",
     {"user1": "gone", "user0": "sem(timed)?op", "user2": "sem(timed)?op", "main": "wait4"}, gone=True, also=[{"nobody": "semaphore|semop"}])
hang("mq-logger", "mq_send", "h4_mq_logger.c", role("logger"), "mq_|message queue|full|" + GONE + "|" + NEVER, "the logger has ended with 0, the queue to it is full",
     {"logger": "gone", "main": "mq_timedsend"}, gone=True, also=[role("main"), {"nobody": NEVER}])
hang("named-sem", "semaphore", "h4_named_sem.cpp", role("main"), "semaphore|sem_wait|" + NEVER, "an earlier run has left the named semaphore at nought", {"main": "futex"},
     also=[outside("corpus-card|semaphore")])
hang("shared-mutex", "mutex", "h4_shared_mutex.cpp", role("reader2"), "mutex|lock|" + GONE, "a process left with 0 while it had a mutex of all",
     {"reader2": "gone", "reader0": "futex", "reader1": "futex", "reader3": "futex", "main": "wait4"}, gone=True, loud=True)
hang("worker-cond", "condition", "h4_worker_cond.c", role("main"), "cond|wait|" + NEVER, "six signals for four threads: two are lost, all wait", {"main": "*futex"})
hang("promise-kept", "future", "h4_promise_kept.cpp", role("main"), "future|itself|cond|thread|" + CIRCLE + "|" + NEVER, "the executor's only thread waits for a task behind its own", {"main": "*futex"})
hang("ranks-relock", "mutex", "h4_ranks_relock.cpp 4-", ranks(1), "mutex|lock|itself|already", "rank 1 takes a std::mutex that it holds",
     {"rank1": "futex", "rank0": "recvfrom>rank1", "rank2": "recvfrom>rank0", "rank3": "recvfrom>rank0"}, proved=True, also=[role("rank1", 1)])
hang("spin-left", "spin", "h4_spin_left.c 3", ranks(2), GONE, "rank 2 left with 0 when it had converged, the others spin at a barrier in shared memory",
     {"rank2": "gone", "rank0": "spin", "rank1": "spin"}, gone=True, also=[role("rank2")])
hang("own-sender", "channel", "h4_own_sender.rs", role("main"), "channel|futex|itself|sender|recv|thread|" + NEVER, "a Rust program reads a channel whose last sender it has itself", {"main": "futex"})
hang("rank-condvar", "condition", "h4_rank_condvar.rs 4", ranks(2), "cond|wait|futex|lock|" + NEVER, "the loading thread of rank 2 has ended",
     {"rank2": "futex", "rank0": "recvfrom>rank2", "rank1": "recvfrom>rank0", "rank3": "recvfrom>rank0"})
hang("relock-rust", "mutex", "h4_relock.rs", role("main"), "mutex|lock|itself|already|futex", "a Rust program locks a Mutex that it holds; a thread that reports waits as well", {"main": "*futex"})
hang("wait-group", "go", "h4_wait_group.go", role("main"), "WaitGroup|goroutine|wait|futex|" + NEVER, "a goroutine returned without Done; a ticker keeps the runtime from noticing", {"main": "*~futex"}, loud=True)
hang("coordinator-chan", "go channel", "h4_coordinator_chan.go 4", ranks(0), "chan|goroutine|send|futex|" + NEVER, "rank 0 sends to a channel whose reader has returned",
     {"rank0": "*~futex|epoll", "rank1": "*~futex|epoll", "rank2": "*~futex|epoll"})
hang("client-of-worker", "node", "h4_client_of_worker.js", role("server"), "server|epoll|futex|Atomics|wait|tcp|socket|" + NEVER, "the server's thread waits on a flag that nobody sets",
     {"main": "epoll_wait", "server": "epoll_wait"})
hang("atomics", "node", "h4_atomics.js", role("main"), "futex|Atomics|wait|thread|" + NEVER, "the main thread waits for a worker thread that has returned", {"main": "futex"})

# ZeroMQ, gRPC, MPI
hang("zmq-broker", "zeromq", "h4_zmq_broker.py", role("worker"), GONE + "|zmq|zeromq|broker|poll", "the only worker behind the broker has ended with 0; ranks wait for the broker",
     {"worker": "gone", "broker": "spin", "rank0": "poll", "rank1": "poll", "rank2": "poll"}, needs=["zmq"], gone=True, also=[role("broker")])
hang("zmq-sink", "zeromq", "h4_zmq_sink.py", role("plotter"), "fifo|pipe|signal|pause|plot", "a plotter no longer reads the FIFO that the sink fills",
     {"plotter": "pause|ppoll|rt_sigsuspend", "sink": "write>plotter", "main": "poll"}, needs=["zmq"])
hang("zmq-late-sub", "zeromq", "h4_zmq_late_sub.py", cycle("rank0", "rank1", "rank2"), "zmq|zeromq|recv|poll|" + CIRCLE + "|" + NEVER,
     "rank 1 subscribed again too late and missed the start; rank 0 waits for its result",
     {"rank0": "poll", "rank1": "poll", "rank2": "poll"}, needs=["zmq"], also=[ranks(1), ranks(0), cycle("rank0", "rank1")])
hang("grpc-lock", "grpc", "h4_grpc_lock.py", role("server"), "server|lock|queue|grpc|" + NEVER, "a call waits for deltas with the server's lock in hand, which all pushes want",
     {"server": "*futex@merge ", "rank0": "~futex|epoll@train ", "rank1": "~futex|epoll@train "}, needs=["grpc"])
hang("grpc-stream", "grpc", "h4_grpc_stream.py", cycle("main", "server"), CIRCLE + "|grpc|stream|" + NEVER, "the server waits for the next request, the client for the rest of a batch",
     {"main": "~futex|epoll@main .*h4_grpc_stream", "server": "*futex@samples "}, needs=["grpc"], also=[role("server"), role("main")])
hang("grpc-self", "grpc", "h4_grpc_self.py", role("server"), "server|grpc|result|pool|itself|" + CIRCLE + "|" + NEVER, "the server's two threads wait for calls to itself", {"server": "*~futex@score ", "main": "~futex|epoll@main "},
     needs=["grpc"])
for kind, culprit, why, about, see, also in (
        ("tags", ranks(0), "recv|tag|barrier|" + CIRCLE, "rank 0 receives with a tag that rank 2 has not used; the others are at the barrier",
         {"rank0": "spin", "rank1": "spin", "rank2": "spin", "rank3": "spin"}, [ranks(2), cycle("rank0", "rank2")]),
        ("uneven", ranks(3), "gather|allreduce|all_reduce|collective|batch|not in|elsewhere", "rank 3 is in the gather at the end, the others in an all-reduce",
         {"rank0": "spin", "rank3": "*~." }, []),
        ("large", cycle("rank0", "rank1", "rank2", "rank3"), CIRCLE + "|send", "pairs of ranks send to each other before they receive",
         {"rank0": "spin", "rank1": "spin", "rank2": "spin", "rank3": "spin"}, [cycle("rank0", "rank1"), cycle("rank2", "rank3")]),
        ("feeder", ranks(1), "queue|empty|thread|" + NEVER, "the feeding thread of rank 1 has ended, the others are in a broadcast",
         {"rank1": "futex@get .*queue", "rank2": "spin"}, [])):
    hang("mpi-" + kind, "mpi", "h4_mpi.py " + kind, culprit, why, about, see, also=also, needs=["mpi4py", "mpiexec"])
    CASES[-1]["run"] = ["mpiexec", "-n", "4", *CASES[-1]["run"]]

# children, launchers, stores, pipelines
hang("store-poll", "child", "h4_store_poll.py", ranks(3), "clone|child|password|terminal|tty|prompt|input", "rank 3 waits for a child that asks for a password; the others look for its key",
     {"rank3": "wait4>clone", "clone": "read", "rank0": "~nanosleep@train ", "store": "~epoll"}, also=[role("clone")])
hang("tool-wants-lock", "child", "h4_tool_wants_lock.py", cycle("rank1", "tool"), CIRCLE + "|lock", "rank 1 waits for a tool that waits for the file lock of rank 1",
     {"rank1": "wait4>tool", "tool": "flock>rank1", "rank2": "recvfrom>rank1", "rank0": "recvfrom>rank2"}, also=[ranks(1)])
hang("stdin-open", "child", "h4_stdin_open.py", cycle("main", "sort"), CIRCLE + "|stdin|pipe|child", "sort waits for the end of its input, which the parent keeps open while it waits for sort",
     {"main": "wait4>sort", "sort": "read>main"}, also=[role("main"), role("sort")])
hang("hub-busy", "http", "h4_hub_busy.py", ranks(0), r"503|sleep|retr|download|http|127\.0\.0\.1", "rank 0 asks a hub that is always busy, again and again",
     {"rank0": "~nanosleep@download ", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0", "rank3": "recvfrom>rank0"}, also=[role("modelhub"), role("rank0", 0)])
hang("never-started", "accept", "h4_never_started.py", ranks(3), "never|missing|not (yet )?(come|joined|started)|accept|rank 3", "rank 3 of four was never started; rank 0 waits in accept",
     {"rank0": "accept", "rank1": "recvfrom|~recvfrom|poll", "rank2": "recvfrom|poll", "launcher": "wait4"}, also=[role("launcher"), outside(r"rank 3\b")])
hang("tqdm-eval", "tcp recv", "h4_tqdm_eval.py", ranks(0), "recv|tcp|ring|eval|reduce|" + CIRCLE, "rank 0 evaluates with a collective while the others have gone on to train",
     {"rank0": "recvfrom>rank3@metric|reduce", "rank3": "recvfrom>rank0", "rank1": "recvfrom>rank0", "rank2": "recvfrom>rank0"}, needs=["tqdm"],
     also=[cycle("rank0", "rank3"), cycle("rank0", "rank1", "rank2", "rank3")])
hang("shared-executor", "process pool", "h4_shared_executor.py", role("worker"), "semaphore|lock|pool|executor|" + NEVER, "both workers of the pool wait for a token that a task behind them would give",
     {"worker": "futex@prepare ", "main": "futex"}, also=[role("main"), {"nobody": "semaphore"}])
hang("pipeline-stage", "mp pipe", "h4_pipeline_stage.py", cycle("rank2", "rank3"), "pipe|recv|" + CIRCLE + "|" + NEVER, "stage 2 has dropped a micro-batch; stage 3 waits for it, stage 2 for its gradient",
     {"rank3": "read>rank2", "rank2": "read>rank3", "rank1": "read>rank2", "rank0": "read>rank1"}, also=[ranks(2), ranks(3)])
hang("heartbeat-only", "file", "h4_heartbeat_only.py", ranks(2), r"sleep|file|shard2|train", "rank 2 waits for a file that never comes, its heartbeats go on",
     {"rank2": "~nanosleep@train ", "rank0": "recvfrom>rank2", "rank1": "recvfrom>rank0", "rank3": "recvfrom>rank1", "monitor": "accept"}, also=[role("rank2", 2)])
hang("helper-silent", "pipe", "h4_stuck_worker_in_lock.py", role("helper"), "helper|sleep|pipe|child", "worker 2 holds the decoder's lock and waits for a helper that sleeps",
     {"helper": "nanosleep", "worker2": "read>helper", "worker0": "futex|read", "worker1": "futex|read", "worker3": "futex|read", "main": "read"}, also=[role("worker2")])

# longer ways
hang("two-levels", "pipe", "h4_two_levels.py", role("codec5"), "codec|sleep|pipe|child", "the codec process of rank 5 looks for a file that never comes; pairs by pipes, a ring of the even ranks",
     {"codec5": "~nanosleep", "rank5": "read>codec5", "rank4": "read>rank5", "rank6": "recvfrom>rank4", "rank0": "recvfrom>rank6", "rank1": "read>rank0"}, also=[ranks(5)])
hang("rwlock-again", "rwlock", "h4_rwlock_again.c", role("main"), "rwlock|lock|itself|thread|" + CIRCLE, "a reader asks again while a writer waits for it", {"main": "*futex"})
hang("shared-barrier", "barrier", "h4_shared_barrier.c 3-", ranks(0), "signal|sigwait|SIGUSR1", "rank 0 waits for a signal, the others are at a barrier in a mapped file",
     {"rank0": "sigtimedwait", "rank1": "futex", "rank2": "futex"}, also=[role("rank0", 0)])
hang("rwmutex-go", "go", "h4_rwmutex.go 4", ranks(2), "lock|mutex|goroutine|futex|itself|" + NEVER, "a goroutine of rank 2 asks for the write lock while it has the read lock",
     {"rank2": "*~futex|epoll", "rank0": "*~futex|epoll", "rank3": "*~futex|epoll"})
hang("ranks-node", "node", "h4_ranks_node.js 4", ranks(1), "promise|epoll|event loop|idle|nothing|" + NEVER, "rank 1 awaits a promise that nobody settles; rank 0 waits for it in its event loop",
     {"rank0": "epoll", "rank1": "epoll", "rank2": "epoll", "rank3": "epoll"})
hang("services-copies", "queue get", "h4_services_copies.py", ranks(1), "queue|empty|thread|" + NEVER, "rank 1's loading thread has ended; heartbeats go on, monitors hold copies of all sockets",
     {"rank1": "futex@get .*queue", "rank0": "recvfrom>rank1", "rank2": "recvfrom>rank0", "rank3": "recvfrom>rank0", "monitor1": "~nanosleep"})
hang("four-hops", "fifo open", "h4_four_hops.py", role("backup"), "fifo|tape|open|writer", "a backup waits for a tape with the lock of the database that the features come from",
     {"backup": "openat wait_for_partner", "database": "flock>backup", "features": "recvfrom>database", "main": "recvfrom>features"}, also=[outside("tape")])
hang("fifo-ring", "fifo", "h4_fifo_ring.py", cycle("agent0", "agent1", "agent2"), CIRCLE + "|fifo|pipe", "a token is kept back: three agents read in a circle",
     {"agent0": "read>agent2", "agent1": "read>agent0", "agent2": "read>agent1", "main": "wait4"}, also=[role("agent2")])
hang("aio-ranks", "asyncio", "h4_aio_ranks.py", ranks(1), "asyncio|event loop|condition|epoll|task|" + NEVER, "rank 1 awaits its loader, which was cancelled by a time limit",
     {"rank0": "epoll", "rank1": "epoll", "rank2": "~epoll", "rank3": "~epoll"}, also=[role("rank1", 1)])

# Healthy ones
quiet("q-compile", "tcp recv", "h4_q_compile.py", 78, "rank 0 compiles for 70 s, the others wait for it", "first step with extensions that are built", needs=["g++"])
quiet("q-checkpoint", "tcp recv", "h4_q_checkpoint.py", 70, "rank 0 writes a checkpoint for 62 s", "slow disk")
quiet("q-trickle", "tcp recv", "h4_q_trickle.py", 80, "rank 1 gets 120 bytes every 0.3 s for 72 s", "slow line")
quiet("q-evaluate", "tcp recv", "h4_q_evaluate.py", 76, "rank 0 evaluates for 65 s", "evaluation on one rank")
quiet("q-rate-limit", "sleep", "h4_q_rate_limit.py", 76, "rank 2 sleeps 70 s as it was told", "a limited service")
quiet("q-idle-server", "accept", "h4_q_idle_server.py", 75, "nobody asks for 68 s", "inference server")
quiet("q-kernel", "pipe", "h4_q_kernel.py", 74, "the next cell comes after 70 s", "notebook kernel")
quiet("q-svd", "compute", "h4_q_svd.py", 68, "numpy computes for 65 s", "linear algebra", needs=["numpy"])
quiet("q-cache-build", "flock", "h4_q_cache_build.py", 73, "one rank builds the cache for 68 s under the lock that the others want", "data cache")
quiet("q-serial-load", "mp semaphore", "h4_q_serial_load.py", 65, "ranks load one after the other, 12 s each", "weights loaded in turns")
quiet("q-goroutines", "go", "h4_q_goroutines.go", 68, "goroutines compute for 66 s", "Go tool")
quiet("q-dedup", "thread join", "h4_q_dedup.rs", 68, "threads compute for 66 s", "Rust tool")
quiet("q-autotune", "condition", "h4_q_autotune.cpp", 66, "a thread computes for 64 s, main waits for it", "autotuner in C++")
quiet("q-timer", "epoll", "h4_q_timer.js", 64, "timers of 21 s", "worker of a queue in Node")
quiet("q-pool-slow", "mp pool", "h4_q_pool_slow.py", 69, "one of three workers computes for 66 s", "long last task")
quiet("q-aio-wait", "asyncio", "h4_q_aio_wait.py", 76, "waits of 25 s with a time limit", "a service without an answer")
quiet("q-grpc-idle", "grpc", "h4_q_grpc_idle.py", 71, "the next call comes after 66 s", "gRPC server", needs=["grpc"])
quiet("q-zmq-worker", "zeromq", "h4_q_zmq_worker.py", 68, "the next task comes after 65 s", "ZeroMQ worker", needs=["zmq"])
quiet("q-mpi-barrier", "mpi", "h4_q_mpi_barrier.py", 66, "rank 0 computes for 60 s, the others spin in a barrier", "MPI", needs=["mpi4py", "mpiexec"])
CASES[-1]["run"] = ["mpiexec", "-n", "3", *CASES[-1]["run"]]
quiet("q-event-timeout", "event", "h4_q_event_timeout.py", 75, "waits for 70 s with a time limit", "optional go-ahead")
quiet("q-tqdm-long", "tcp recv", "h4_q_tqdm_long.py", 90, "steps of 22 s", "long steps under a progress bar", needs=["tqdm"])
quiet("q-sqlite-busy", "sqlite", "h4_q_sqlite_busy.py", 67, "the other process writes for 65 s", "long transaction")
quiet("q-compress", "child", "h4_q_compress.py", 70, "a child compresses for 65 s", "packing")
quiet("q-slow-decode", "pipe", "h4_q_slow_decode.py", 77, "a picture every 15 s", "slow decoder")
quiet("q-sysv-idle", "msgrcv", "h4_q_sysv_idle.c", 67, "the next task comes after 66 s", "worker of a SysV queue")
quiet("q-slow-rank", "tcp recv", "h4_q_slow_rank.py", 76, "rank 1 computes for 18 s in each step", "long sequences")
quiet("q-watch-dir", "sleep", "h4_q_watch_dir.py", 74, "the next checkpoint is there after 68 s", "evaluator that looks for files")
quiet("q-long-poll", "http", "h4_q_long_poll.py", 70, "the server answers after 65 s", "tuner")
quiet("q-slow-prefetch", "queue get", "h4_q_slow_prefetch.py", 74, "the prefetching thread reads for 65 s", "slow reader")
quiet("q-alarm", "pause", "h4_q_alarm.py", 69, "an alarm in 66 s", "start at a given time")
quiet("q-late-rank", "accept", "h4_q_late_rank.py", 66, "ranks are started 15 s apart", "launcher in turns")
quiet("q-clone", "child", "h4_q_clone.py", 69, "a child writes a line every 0.5 s for 65 s", "clone with its own log")
quiet("q-wait-file-lock", "posix lock", "h4_q_wait_file_lock.py", 71, "a converter works for 66 s under the lock", "data in preparation")
quiet("q-copy-slow", "mp barrier", "h4_q_copy_slow.py", 69, "rank 0 copies for 65 s", "copy at a limited rate")
quiet("q-server-late", "connect", "h4_q_server_late.py", 68, "the service is there after 62 s, ranks try every 2 s", "service that starts later")
quiet("q-manager-idle", "mp manager", "h4_q_manager_idle.py", 66, "the parent computes for 30 s between tasks", "workers without work")
quiet("q-shm-spin", "spin", "h4_q_shm_spin.c", 61, "the producer works for 60 s", "flag in shared memory")
quiet("q-regex", "compute", "h4_q_regex.py", 63, "a regular expression works for 62 s", "cleaning text")
quiet("q-sched", "sleep", "h4_q_warmup_sched.py", 71, "the next run is due in 68 s", "scheduler of sweeps")

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    names = [c["name"] for c in CASES]
    assert len(names) == len(set(names)), [n for n in names if names.count(n) > 1]
    hidden = ("see", "loud")
    with open(here + "/truth4.json", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps({k: v for k, v in c.items() if k not in hidden}) for c in CASES) + "\n]\n")
    print({k: sum(c["class"] == k for c in CASES) for k in ("hang", "benign")})
