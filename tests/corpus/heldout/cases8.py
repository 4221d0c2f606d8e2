"""What is true of each program of programs8; `cases8.py` as a program writes truth8.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h8-", "programs8")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
NOBODY = {"nobody": NEVER}
POLL = "poll|sleep|loop|exist|file|"

# Workers
hang("bad-batch", "tcp recv", "h8_bad_batch.py", ranks(2), "recv|read|tcp|not in|elsewhere|tell|" + CIRCLE, "worker 2 has skipped a batch and is at the final scores",
     {"rank2": "read>rank0@tell ", "rank0": "read>rank2@mean ", "rank1": "~read>rank0"}, also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("folder-sum", "file", "h8_folder_sum.py", ranks(1), POLL + r"grad\.14-1|" + NEVER, "worker 1 could not write its file, all look for it",
     all_of(3, "~nanosleep@wait_for "), also=[outside(r"grad\.14-1")])
hang("memmap-flags", "shared memory", "h8_memmap_flags.py", ranks(2), "poll|sleep|loop|flags|shared|memmap|not in|elsewhere|" + CIRCLE + "|" + NEVER,
     "worker 2 has fewer files and waits until all are done", {"rank2": "~nanosleep@all_done ", **all_of(4, "~nanosleep@all_at ", 2)}, needs=["numpy"])
hang("manager-barrier", "barrier", "h8_manager_barrier.py", role("trainer2"), GONE + "|barrier|manager|" + NEVER, "one of four at a Manager's barrier has returned",
     {"trainer2": "gone", "trainer0": "read>manager", "trainer1": "read>manager", "trainer3": "read>manager", "main": "wait4>trainer0", "manager": "*futex"},
     gone=True, also=[NOBODY])
hang("xmlrpc-sync", "tcp recv", "h8_xmlrpc_sync.py", role("ps"), "sleep|poll|loop|server|sync|recv|tcp|accept|" + CIRCLE + "|" + NEVER,
     "a server that takes one request at a time waits in it for the others", {"ps": "~nanosleep@sync ", **all_of(3, "recvfrom")}, also=[outside(r"127\.0\.0\.1:\d+")])
hang("list-keys", "tcp recv", "h8_list_keys.py", ranks(2), "recv|tcp|list|server|key|BRPOP|pop|condition|" + CIRCLE + "|" + NEVER,
     "worker 2 counts its steps anew, worker 0 waits for its 18th", {**all_of(3, "recvfrom>lists"), "lists": "*futex"},
     also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank2", "lists"), cycle("rank0", "rank1", "rank2", "lists")])
hang("missed-start", "tcp recv", "h8_missed_start.py", cycle("rank0", "rank1"), "recv|tcp|publish|subscribe|start|list|server|hear|" + CIRCLE + "|" + NEVER,
     "worker 1 subscribed after the start was published", {"rank0": "recvfrom>lists", "rank1": "recvfrom>lists@hear ", "rank2": "~recvfrom>lists"},
     also=[ranks(1), role("rank1"), ranks(0), cycle("rank0", "rank1", "lists"), cycle("rank0", "rank1", "rank2", "lists"), cycle("rank0", "rank1", "rank2")])
hang("prober", "tcp recv", "h8_prober.py", role("prober"), "accept|recv|read|challenge|auth|tcp|answer|probe|sleep", "a silent probe is asked for its key, worker 3 is not taken",
     {"rank0": "read>prober@accept ", "rank1": "read>rank0", "rank2": "read>rank0", "rank3": "read", "prober": "nanosleep"}, also=[ranks(0), role("rank0")])
hang("unfrozen", "tcp send", "h8_unfrozen.py", cycle("rank0", "rank1", "rank2"), "send|full|buffer|tcp|" + CIRCLE, "all send more than fits and nobody reads",
     {"rank0": "sendto>rank1", "rank1": "sendto>rank2", "rank2": "sendto>rank0"})
hang("index-lock", "file", "h8_index_lock.py", role("indexer"), GONE + r"|index\.lock|poll|sleep|loop|file|exist|take", "a killed tool has left its lock file",
     {"indexer": "gone", "rank0": "~nanosleep@take ", "rank1": "read>rank0", "rank2": "read>rank0"}, gone=True, also=[ranks(0), role("rank0"), outside(r"index\.lock")])
hang("callback", "event", "h8_callback.py", ranks(1), "event|wait|callback|saved|thread|" + NEVER, "the callback that sets an event has failed",
     {"rank1": "futex@wait ", "rank0": "read>rank1", "rank2": "read>rank0"}, loud=True)
hang("early-stop", "file", "h8_early_stop.py", ranks(3), POLL + "finished|not in|elsewhere|" + CIRCLE, "worker 3 has stopped early and waits for the others' ends",
     {"rank3": "~nanosleep@wait_for ", "rank0": "read>rank3", "rank1": "read>rank0", "rank2": "read>rank0"}, also=[cycle("rank0", "rank3")])
hang("rpc-sum", "go", "3* h8_rpc_sum.go", ranks(0), "epoll|futex|rpc|goroutine|WaitGroup|wait|server|tcp|" + CIRCLE + "|" + NEVER,
     "a call of worker 0's server waits for one worker more than call", all_of(3, "*~epoll|futex"))
hang("predicate", "condition", "2* h8_predicate.cpp", ranks(1), "cond|futex|wait|notif|" + NEVER, "worker 1 waits for one batch more than its thread makes",
     {"rank1": "futex", "rank0": "recvfrom>rank1"})
hang("mpi-tags", "mpi", "3 h8_mpi_tags.py", ranks(2), "mpi|recv|tag|not in|elsewhere|" + CIRCLE, "rank 2 waits for the end by its tag, rank 0 for its answer",
     all_of(3, "spin"), needs=["mpi4py", "mpiexec"], also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("preempted", "tcp recv", "h8_preempted.py", ranks(2), "recv|read|tcp|not in|elsewhere|tell|preempt|SIGTERM|" + CIRCLE, "worker 2 was warned by SIGTERM and waits for a word of worker 0",
     {"rank2": "read>rank0@tell ", "rank0": "read>rank2", "rank1": "read>rank0", "rank3": "read>rank0"}, also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2", "rank3")])

# Tools, pools, loops
hang("tr-filter", "pipe full", "h8_tr_filter.py", cycle("main", "tr"), CIRCLE + "|pipe|full|write|read|output", "main writes all to tr before it reads",
     {"main": "write>tr", "tr": "write>main"}, also=[role("main"), ranks(0), role("tr")])
hang("stderr-full", "pipe full", "h8_stderr_full.py", cycle("main", "converter"), CIRCLE + "|pipe|full|stderr|write|read|output",
     "main reads the output of a tool that has filled its errors", {"main": "read>converter", "converter": "write>main"}, also=[role("main"), ranks(0), role("converter")])
hang("coproc", "pipe", "h8_coproc.sh", cycle("main", "scorer"), CIRCLE + "|pipe|read|stdin|flush|answer", "a scorer has not flushed its answer",
     {"main": "read>scorer", "scorer": "read>main"}, needs=["bash"], also=[role("scorer"), role("main"), ranks(0)])
hang("tail-wait", "child", "h8_tail_wait.sh", role("tail"), "tail|child|wait|inotify|finish", "training has ended, the script waits for its tail -f",
     {"main": "wait4>tail", "tail": "~", "trainer": "gone"}, needs=["bash"])
hang("devices", "mp queue", "h8_devices.py", role("worker4"), "queue|get|recv|read|pipe|device|empty|join|" + NEVER, "the fourth of a pool waits for a device, three were given",
     {"worker4": "read@begin ", "worker1": "gone", "main": "~futex|wait4"}, also=[role("main"), ranks(0)])
hang("recursive-limit", "asyncio", "h8_recursive_limit.py", role("main"), "asyncio|semaphore|task|await|gather|epoll|itself|" + CIRCLE + "|" + NEVER,
     "tasks wait within a semaphore for others that want it", {"main": "epoll"})
hang("event-of-thread", "asyncio", "h8_event_of_thread.py", role("main"), "asyncio|queue|loop|thread|epoll|await|task|wake|" + NEVER,
     "a thread that has left did not wake the loop", {"main": "epoll"})
hang("to-thread", "queue get", "h8_to_thread.py", role("main"), "queue|get|thread|executor|join|shutdown|finish|" + NEVER, "the loop waits at its end for a thread that waits for a queue",
     {"main": "*futex@write "})
hang("eval-pipe", "pipe full", "h8_eval_pipe.py", cycle("main", "evaluator"), CIRCLE + "|pipe|full|write|send|join|read", "main joins a process whose pipe it does not read",
     {"main": "wait4>evaluator", "evaluator": "write|sendto"}, also=[role("main"), ranks(0), role("evaluator")])
hang("lost-task", "pool", "h8_lost_task.py", role("killed"), GONE + "|pool|result|condition|wait|next|" + NEVER, "a process of a pool was killed with a task",
     {"main": "futex@next ", "killed": "gone"}, needs=["tqdm"], gone=True, also=[role("main"), ranks(0)])
hang("joblib-feed", "queue get", "h8_joblib_feed.py", role("main"), "queue|get|empty|joblib|itself|task|generator|" + CIRCLE + "|" + NEVER,
     "what gives the tasks waits for results of tasks that it did not give", {"main": "futex|~nanosleep"}, needs=["joblib"])
hang("seqlock", "shared memory", "h8_seqlock.py", role("learner"), GONE + "|poll|sleep|loop|shared|version|" + NEVER, "a learner was killed while it wrote, its counter is odd",
     {"main": "~nanosleep@weights ", "learner": "gone"}, needs=["numpy"], gone=True, also=[role("main"), ranks(0)])
hang("terminated", "mp lock", "h8_terminated.py", role("evaluator"), GONE + "|lock|semaphore|acquire|terminat|SIGTERM|" + NEVER, "a terminated process had the lock of a counter",
     {"main": "futex", "evaluator": "gone"}, gone=True, also=[role("main"), ranks(0), NOBODY])
hang("weakref", "lock", "h8_weakref.py", role("main"), "lock|itself|finaliz|dropped|already|" + CIRCLE + "|" + NEVER, "a finalizer wants the lock that its own thread has",
     {"main": "futex@dropped "})
hang("stats-signal", "lock", "h8_stats_signal.py", ranks(1), "lock|itself|handler|signal|dump|" + CIRCLE + "|" + NEVER, "a handler of worker 1 wants the lock of the code under it",
     {"rank1": "futex@dump ", "rank0": "read>rank1", "rank2": "read>rank0"})
hang("part-names", "file", "h8_part_names.py", role("producer"), GONE + "|part-10|" + POLL + NEVER, "a producer has left, its files have other names",
     {"main": "~nanosleep@wait_for ", "producer": "gone"}, gone=True, also=[role("main"), ranks(0), outside("part-10"), NOBODY])
hang("lease", "retry", "h8_lease.py", role("worker1"), GONE + "|poll|sleep|retry|lease|409|loop|http|server|shard|" + NEVER, "a worker has left with a lease, main asks again and again",
     {"main": "~nanosleep@work ", "worker1": "gone", "server": "~poll"}, gone=True, also=[role("main"), ranks(0), role("server"), outside(r"127\.0\.0\.1:\d+")])
hang("cursor", "tcp recv", "h8_cursor.py", role("feed"), "recv|http|tcp|server|condition|feed|event|" + CIRCLE + "|" + NEVER, "a server counts anew and keeps a request for a number it does not reach",
     {"main": "recvfrom>feed", "feed": "*futex@do_GET "}, also=[outside(r"127\.0\.0\.1:\d+"), cycle("main", "feed")])
hang("udp-ack", "udp recv", "h8_udp_ack.py", role("agent"), GONE + "|udp|recv|datagram|socket|answer|" + NEVER, "the agent that confirms steps by UDP has ended",
     {"main": "recvfrom", "agent": "gone"}, gone=True, also=[outside(r"127\.0\.0\.1:\d+|UDP|udp"), role("main"), ranks(0), NOBODY])
hang("prefetch-cond", "condition", "h8_prefetch_cond.py", ranks(1), "condition|wait|thread|prefetch|next|batch|" + NEVER, "worker 1's thread of batches has left",
     {"rank1": "futex@next ", "rank0": "read>rank1"})
hang("counted-ok", "condition", "h8_counted_ok.py", role("main"), "condition|wait|count|thread|future|" + NEVER, "main waits for a count that a failed task has not raised",
     {"main": "futex@wait_for "}, needs=["tqdm"])
hang("at-exit", "queue join", "h8_at_exit.py", ranks(2), "queue|join|exit|upload|condition|wait|thread|finish|" + NEVER, "worker 2's end joins a queue whose thread has left",
     {"rank2": "futex@join ", "rank0": "gone", "rank1": "gone", "launcher": "wait4"})
hang("aio-barrier", "asyncio", "h8_aio_barrier.py", role("main"), "asyncio|barrier|task|await|epoll|gather|" + NEVER, "five tasks at a barrier of six", {"main": "epoll"})
hang("cache-lock", "posix lock", "h8_cache_lock.py", role("cacher"), "lock|fcntl|accept|features|holds", "an idle server keeps the lock of a file",
     {"main": "fcntl>cacher", "cacher": "accept"}, also=[cycle("main", "cacher")])
hang("paste", "fifo", "h8_paste.sh", cycle("splitter", "paste"), CIRCLE + "|pipe|fifo|full|write|open|reader|writer|target", "a splitter fills one FIFO, paste opens the other",
     {"splitter": "write>paste", "paste": "openat", "main": "wait4>splitter"}, needs=["bash"], also=[role("splitter"), role("paste"), outside("target|source")])
hang("script-lock", "flock", "h8_script_lock.sh", cycle("main", "cleaner"), CIRCLE + r"|flock|lock|child|nightly\.lock|itself|holds", "a script holds the lock that its child wants",
     {"main": "wait4>cleaner", "cleaner": "flock"}, needs=["bash", "flock"], also=[role("main"), ranks(0)])
hang("grpc-window", "grpc", "h8_grpc_window.py", cycle("main", "server"), CIRCLE + "|grpc|server|stream|recv|condition|wait|next|answer|tcp|" + NEVER,
     "a server answers eight at a time, the client waits after four", {"main": "~futex|epoll", "server": "*~futex@predict "}, needs=["grpc"],
     also=[role("server"), outside(r"127\.0\.0\.1:\d+"), role("main"), ranks(0)])
hang("router", "zeromq", "h8_router.py", cycle("main", "actor2"), CIRCLE + "|zmq|zeromq|poll|recv|tcp|message|" + NEVER, "weights go to an actor's old name and are dropped",
     {"main": "poll", "actor2": "poll", "actor0": "poll", "actor1": "poll"}, needs=["zmq"],
     also=[role("actor2"), role("main"), ranks(0), cycle("main", "actor0", "actor1", "actor2")])
hang("abba-go", "go mutex", "h8_abba.go", role("main"), "mutex|lock|futex|goroutine|wait|" + CIRCLE + "|" + NEVER, "two goroutines take two mutexes in two orders", {"main": "*~futex|epoll"})
hang("senders-rs", "channel", "h8_senders.rs", role("main"), "channel|recv|futex|sender|thread|itself|" + NEVER, "main waits for the end of a channel whose sender it has kept", {"main": "*futex"})
hang("atomics-js", "node", "h8_atomics.js", role("main"), "epoll|futex|Atomics|worker|thread|wait|message|" + CIRCLE + "|" + NEVER, "a worker thread waits for what main sends after its message",
     {"main": "epoll"})
hang("upgrade-c", "rwlock", "h8_upgrade.c", role("main"), "rwlock|lock|futex|itself|upgrade|write|read|" + CIRCLE, "a thread with a read lock wants the write lock too", {"main": "futex"})
hang("own-end", "pipe", "h8_own_end.c", role("child0"), "pipe|read|end of|itself|own|writer|open|" + CIRCLE + "|" + NEVER, "children read pipes whose writing ends they have kept",
     {"main": "wait4>child0", "child0": "read", "child1": "read", "child2": "read"}, also=[role("child1"), role("child2"), cycle("child0", "child1", "child2")])

# Healthy ones
quiet("q-folder-sum", "file", "h8_q_folder_sum.py", 71, "worker 1 computes for 63 s", "sum by files in a folder")
quiet("q-memmap-flags", "shared memory", "h8_q_memmap_flags.py", 72, "worker 2 compresses for 62 s", "flags in a memmap", needs=["numpy"])
quiet("q-manager-barrier", "barrier", "h8_q_manager_barrier.py", 74, "trainer 2 sleeps for 65 s by plan", "barrier of a Manager")
quiet("q-xmlrpc", "tcp recv", "h8_q_xmlrpc.py", 73, "the server computes for 62 s in a request", "parameters by XML-RPC")
quiet("q-list-download", "tcp recv", "h8_q_list_download.py", 71, "worker 2 gets 10 KB a second for 64 s", "gradients by lists of a server")
quiet("q-prober", "tcp recv", "h8_q_prober.py", 76, "a silent client leaves after 60 s", "worker that joins late")
quiet("q-index-lock", "file", "h8_q_index_lock.py", 73, "a tool computes for 64 s", "lock file of a tool")
quiet("q-wait-eval", "child", "h8_q_wait_eval.sh", 69, "the trainer evaluates for 62 s", "script that waits for training", needs=["bash"])
quiet("q-coproc", "pipe", "h8_q_coproc.sh", 71, "the scorer computes for 63 s", "coprocess of bash", needs=["bash"])
quiet("q-paste", "fifo", "h8_q_paste.sh", 88, "the splitter sleeps for 16 s five times", "two FIFOs and paste", needs=["bash"])
quiet("q-stderr-tool", "pipe", "h8_q_stderr_tool.py", 74, "a tool computes for 66 s", "output of a converter")
quiet("q-joblib-tail", "pool", "h8_q_joblib_tail.py", 69, "one process computes for 64 s", "last fit of a search", needs=["joblib"])
quiet("q-rate-limit", "asyncio", "h8_q_rate_limit.py", 72, "sleeps until a quota's next window", "requests under a semaphore")
quiet("q-to-thread", "asyncio", "h8_q_to_thread.py", 69, "a thread computes for 62 s", "thread of to_thread")
quiet("q-cache-lock", "posix lock", "h8_q_cache_lock.py", 70, "the holder writes for 63 s", "lock of a file of features")
quiet("q-lease", "retry", "h8_q_lease.py", 74, "the holder of a lease computes for 66 s", "leases of shards")
quiet("q-feed-idle", "tcp recv", "h8_q_feed_idle.py", 84, "the feed has nothing for 70 s", "events of a feed")
quiet("q-udp-ack", "udp recv", "h8_q_udp_ack.py", 73, "the agent computes for 64 s", "steps confirmed by UDP")
quiet("q-prefetch", "condition", "h8_q_prefetch.py", 71, "worker 1's thread computes for 62 s", "thread of batches")
quiet("q-at-exit", "queue join", "h8_q_at_exit.py", 73, "worker 2's thread writes 64 KB each 2 s", "uploads at the end")
quiet("q-grpc", "grpc", "h8_q_grpc.py", 69, "the server computes for 62 s", "stream to a model server", needs=["grpc"])
quiet("q-mpi-tasks", "mpi", "3 h8_q_mpi_tasks.py", 70, "rank 2 multiplies for 62 s", "tasks by MPI", needs=["mpi4py", "mpiexec", "numpy"])
quiet("q-seqlock", "shared memory", "h8_q_seqlock.py", 74, "the writer computes for 62 s", "weights in shared memory", needs=["numpy"])
quiet("q-rpc-slow", "go", "3* h8_q_rpc_slow.go", 71, "worker 2 sorts for 62 s", "sums by Go's net/rpc")
quiet("q-atomics", "node", "h8_q_atomics.js", 70, "main computes for 62 s", "Atomics.wait in Node")
quiet("q-merge", "pipe", "h8_q_merge.c", 67, "a child sorts for 62 s", "two sorting children in C")

if __name__ == "__main__":
    BOOK.write("truth8.json")
