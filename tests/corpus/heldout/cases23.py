"""What is true of each program of programs23; `cases23.py` as a program writes truth23.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, ranks, role
from kitcases import Book

BOOK = Book("h23-", "programs23")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|gather|select|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
SPIN = "spin|busy|loop|cpu|processor|comput|running|works|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"

# Ranks
hang("sweep-prune", "tcp recv", "h23_sweep_prune.py", ranks(2), SUM + ELSEWHERE + "trial|prun|" + CIRCLE,
     "rank 2 has given up a trial and waits for the next one to begin, the others sum its gradients",
     {"rank0": "recv>rank2@sum_gradient", "rank1": "recv>rank0@sum_gradient", "rank2": "recv>rank0@begin_trial"},
     also=[cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank2")])
hang("gen-lock", "futex", "h23_gen_lock.py", ranks(1), FUTEX + "itself|own|generator|records|" + NEVER,
     "rank 1 waits for a lock that a generator has which it has itself begun and kept",
     {"rank0": "recv>rank1@all_reduce", "rank1": "futex@records"})
hang("finalize", "futex", "h23_finalize.py", ranks(1), FUTEX + "itself|own|finaliz|forget|" + CIRCLE,
     "rank 1's finalizer waits for a lock that the same thread has", {"rank0": "recv>rank1@all_reduce", "rank1": "futex@forget"})
hang("atexit", "futex", "h23_atexit.py", ranks(1), FUTEX + "upload|queue|exit|shutdown|end|" + NEVER,
     "rank 1's interpreter waits for a thread that would be told to stop after it; rank 0 waits until rank 1 has left",
     {"rank0": "recv>rank1@goodbye", "rank1": "futex@_shutdown"})
hang("taskgroup", "epoll", "h23_taskgroup.py", ranks(1), LOOP + "epoll|task|asyncio|group|corout|validation|wait|" + NEVER,
     "rank 1 waits for a group of tasks of which one goes on for ever", {"rank0": "recv>rank1@all_reduce", "rank1": "~epoll@validation"})
hang("priority-tie", "futex", "h23_priority_tie.py", ranks(1), FUTEX + "queue|TypeError|traceback|error|evaluat|" + NEVER,
     "rank 1's thread for evaluations has failed, its main thread waits for their results",
     {"rank0": "recv>rank1@all_reduce", "rank1": "futex@evaluate"}, loud=True)
hang("steal", "unix recv", "h23_steal.py", cycle("rank0", "rank1"), SUM + "steal|" + CIRCLE,
     "both ranks have asked each other for work and wait for the answer",
     {"rank0": "recv>rank1@steal", "rank1": "recv>rank0@steal"}, also=[ranks(0), ranks(1)])
hang("passed-on", "tcp recv", "h23_passed_on.py", role("dispatcher"), SUM + "connection|open|close|download|" + NEVER,
     "a dispatcher still has a connection open whose end rank 1 waits for",
     {"rank0": "recv>rank1@all_reduce", "rank1": "recv>dispatcher@download", "dispatcher": "accept", "worker": "recvmsg"},
     also=[role("dispatcher", 1), cycle("rank1", "dispatcher")])
hang("mpi-error-tag", "mpi", "3 h23_mpi_error_tag.py", cycle("rank0", "rank2"), SUM + SPIN + "mpi|result|tag|message|" + ELSEWHERE + CIRCLE,
     "rank 0 waits for a result of rank 2, whose message has another tag; the others wait for work",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin"}, also=[ranks(0), ranks(2), cycle("rank0", "rank1", "rank2")],
     needs=["mpi4py", "mpiexec"])
hang("same-identity", "zmq", "h23_same_identity.py", ranks(2), SUM + "zmq|message|identit|lost|" + CIRCLE + "|" + NEVER,
     "rank 2 asks a store under rank 1's name, which takes no second one of it, and waits for an answer",
     {"rank0": "recv>rank2@all_reduce", "rank1": "recv>rank0@all_reduce", "rank2": "poll@features", "store": "poll@serve"},
     also=[role("store"), role("store", 2), cycle("rank2", "store")], needs=["zmq"])
hang("grpc-echo", "grpc", "h23_grpc_echo.py", cycle("rank1", "server"), SUM + FUTEX + "grpc|stream|thread|full|send|" + CIRCLE,
     "rank 1 sends on and reads no answers, the server cannot send its answers and reads no more",
     {"rank0": "recv>rank1@all_reduce", "rank1": "*~futex|poll|epoll@embeddings", "server": "*~futex|poll|epoll@serve"},
     also=[ranks(1), role("server"), role("server", 1)], needs=["grpc"])
hang("stampede", "http", "h23_stampede.py", role("store"), SUM + FUTEX + "http|event|feature|" + NEVER,
     "threads of a store wait for a feature whose computation has failed; ranks 1 and 2 wait for the store",
     {"rank0": "recv>rank1@all_reduce", "rank1": "recv>store@ask", "rank2": "recv>store@ask", "store": "*futex@feature"},
     also=[role("store", 1), role("store", 2), cycle("rank1", "store")])
hang("doorbell", "eventfd", "h23_doorbell.py", ranks(0), SUM + "eventfd|bell|event|read|wait|lost|" + CIRCLE + "|" + NEVER,
     "rank 0 waits for a second ring of its bell, of which it has taken both at once; the others wait for rank 0",
     {"rank0": "read@wait_bell", "rank1": "read@follow", "rank2": "read@follow"},
     also=[cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank1"), cycle("rank0", "rank2")])
hang("oneshot", "epoll", "h23_oneshot.py", role("server"), SUM + "epoll|request|read|" + CIRCLE + "|" + NEVER,
     "a server is not told of rank 2's request, as it has not asked for that connection again",
     {"rank0": "recv>rank2@all_reduce", "rank1": "recv>rank0@all_reduce", "rank2": "recv>server@embed", "server": "epoll@serve"},
     also=[role("server", 2), cycle("rank2", "server")])
hang("import-join", "futex", "h23_import_join.py", ranks(1), FUTEX + "import|module|slow_features|" + CIRCLE,
     "rank 1 waits, while it imports a module, for a thread that imports the same module",
     {"rank0": "recv>rank1@all_reduce", "rank1": "futex@warm_up"})

# Actors, environments, loaders, evaluators and tools beside a training
hang("actor-restart", "shared memory", "h23_actor_restart.py", cycle("main", "actor"), LOOP + "ring|memory|episode|mapped|" + CIRCLE,
     "an actor that was started again waits for a free place in a ring, the learner for a number that never comes",
     {"main": "~nanosleep|select@next_episode", "actor": "~nanosleep|select@play"}, loud=True, also=[role("actor"), role("main"), ranks(0)])
hang("env-error", "pipe", "h23_env_error.py", role("env2"), SUM + "pipe|read|command|" + CIRCLE,
     "an environment has put its error where nobody looks and waits for a command, the player waits for its answer",
     {"main": "read>env2@step_all", "env2": "read>main@serve"}, also=[cycle("main", "env2"), role("env2", 0)])
hang("empty-retry", "queue", "h23_empty_retry.py", role("loader"), FUTEX + LOOP + GONE + "|queue|batch|" + NEVER,
     "the loading process has ended, the training asks its queue again and again",
     {"main": "~futex|poll|select|read@next_batch", "loader": "gone"}, also=[role("main"), ranks(0), role("loader", 0)], gone=True)
hang("watch-folder", "sleep loop", "h23_watch_folder.py", role("evaluator"), LOOP + "inotify|read|score|watch|folder|" + NEVER,
     "the evaluator watches a folder that was removed, the training looks for a score",
     {"main": "~nanosleep|select@wait_score", "evaluator": "read@watch"}, also=[cycle("main", "evaluator"), role("evaluator", 0)])
hang("select-buffer", "select", "h23_select_buffer.py", role("main"), SUM + "pipe|read|buffer|line|" + CIRCLE,
     "main waits in select for a line that it has already read into its buffer, the tool waits for the next question",
     {"main": "select@answer", "tool": "read>main"}, also=[cycle("main", "tool"), role("tool"), role("tool", 0)])
hang("flock-order", "flock", "h23_flock_order.py", cycle("index", "duplicates"), FUTEX + "flock|file|" + CIRCLE,
     "two programs have locked a file each and want that of the other one",
     {"main": "wait4>index", "index": "flock>duplicates", "duplicates": "flock>index"}, also=[role("index"), role("duplicates")])
hang("mq-full", "mq", "h23_mq_full.c", cycle("main", "actor"), "queue|full|mq|send|message|" + CIRCLE,
     "learner and actor both wait for room in the queue that the other one reads",
     {"main": "mq_timedsend", "actor": "mq_timedsend"}, also=[role("actor"), role("actor", 0), role("main"), ranks(0)])

# One process
hang("cancelled-holder", "futex", "h23_cancelled_holder.c", role("main"), FUTEX + GONE + "|cancel|" + NEVER,
     "main waits for a mutex that a thread had which was cancelled", {"main": "futex"})
hang("shared-mutex", "futex", "h23_shared_mutex.cpp", role("main"), FUTEX + CIRCLE,
     "main has a lock for reading and waits for a thread that wants it for writing", {"main": "futex"})
hang("sync-channel", "futex", "h23_sync_channel.rs", role("main"), FUTEX + "channel|send|full|" + CIRCLE,
     "two threads both wait for room in the channel that the other one reads", {"main": "futex"})
hang("cond-signal", "go", "h23_cond_signal.go", role("main"), FUTEX + "goroutine|cond|batch|signal|" + NEVER,
     "a goroutine was woken in another one's place and waits on, so do all", {"main": "*~futex|epoll"})
hang("ticker-stop", "go", "h23_ticker_stop.go", role("main"), FUTEX + "goroutine|group|channel|chan|tick|" + NEVER,
     "the main goroutine waits for one that waits for ticks of a stopped ticker", {"main": "*~futex|epoll"})
hang("scheduled-throw", "java", "h23_scheduled_throw.java", role("main"), FUTEX + "park|queue|full|put|room|" + NEVER,
     "main waits for room in a queue whose reader has failed and is not run again", {"main": "*futex"}, needs=["java"])
hang("rw-upgrade", "java", "h23_rw_upgrade.java", role("main"), FUTEX + "park|itself|own|read|write|" + CIRCLE,
     "main wants a lock for writing that it has for reading", {"main": "*futex"}, needs=["java"])
hang("atomics", "epoll", "h23_atomics.js", role("main"), FUTEX + "worker|epoll|poll|message|atomics|" + CIRCLE + "|" + NEVER,
     "a trainer waits for its worker's message, the worker thread waits in shared memory and is not woken", {"main": "*~epoll"})

# Scripts and children
hang("ipc-open", "epoll", "h23_ipc_open.js", cycle("main", "packer"), SUM + "pipe|exit|child|channel|epoll|end|" + CIRCLE,
     "an exporter waits for the end of its child, the child for more messages",
     {"main": "~epoll", "packer": "~epoll"}, also=[role("packer"), role("packer", 0), role("main"), ranks(0)])
hang("jobserver", "pipe", "h23_jobserver.sh", role("tool"), "select|pipe|read|jobserver|token|place|poll|wait|child|" + CIRCLE,
     "a tool waits for more places of make's jobserver than there are, make waits for the tool",
     {"main": "wait4>make", "make": "wait4|select|read", "tool": "select@take_places"}, also=[cycle("make", "tool"), role("tool", 0)])
hang("tee-cat", "pipe write", "h23_tee_cat.sh", cycle("tee", "reader"), "pipe|fifo|full|write|read|second|" + CIRCLE,
     "tee waits for room in a FIFO that its reader will read when tee has ended",
     {"tee": "write>reader", "reader": "read>tee"}, also=[role("tee"), role("reader"), role("tee", 0), role("reader", 0)])
hang("perl-waitpid", "wait4", "h23_perl_waitpid.pl", cycle("main", "child"), "pipe|full|write|wait|child|" + CIRCLE,
     "a child waits for room in a pipe, its parent for the child's end before it reads",
     {"main": "wait4>child", "child": "write>main"}, also=[role("child"), role("child", 0), role("main"), ranks(0)], needs=["perl"])

# Healthy ones
quiet("q-sweep-prune", "tcp recv", "h23_sweep_prune.py slow", 64, "rank 2 compiles for 48 s", "the others wait in a barrier")
quiet("q-taskgroup", "epoll", "h23_taskgroup.py slow", 62, "a fetch takes 48 s", "rank 1 waits for it, rank 0 in a sum")
quiet("q-priority-tie", "futex", "h23_priority_tie.py slow", 62, "an evaluation takes 48 s", "rank 1 waits at a queue")
quiet("q-steal", "unix recv", "h23_steal.py slow", 92, "rank 1's piece of work takes 80 s", "rank 0 waits for an answer")
quiet("q-flock-order", "flock", "h23_flock_order.py slow", 86, "duplicates are taken out for 70 s under a lock", "an index waits for it")
quiet("q-watch-folder", "sleep loop", "h23_watch_folder.py slow", 74, "an evaluation takes 60 s", "the training looks for a score")
quiet("q-passed-on", "tcp recv", "h23_passed_on.py slow", 105, "an answer comes slowly for 90 s", "rank 1 reads it, rank 0 waits in a sum")
quiet("q-mq-full", "mq", "h23_mq_full.c slow", 62, "an actor's episode takes 48 s", "the learner waits at a queue")
quiet("q-sync-channel", "futex", "h23_sync_channel.rs slow", 60, "a sample is ranked for 50 s", "an encoder waits at a channel")
quiet("q-cond-signal", "go", "h23_cond_signal.go slow", 62, "a batch takes 48 s", "the training waits at a condition")
quiet("q-ipc-open", "epoll", "h23_ipc_open.js slow", 57, "a child packs for 48 s", "an exporter waits for its end")
quiet("q-jobserver", "wait4", "h23_jobserver.sh slow", 69, "an index is compiled for 60 s", "make waits for it")
quiet("q-tee-cat", "pipe read", "h23_tee_cat.sh slow", 55, "a source needs 48 s", "tee and a reader wait for it")
quiet("q-stampede", "http", "h23_stampede.py slow", 109, "a feature is computed for 95 s", "two ranks wait for a store")
quiet("q-env-error", "pipe", "h23_env_error.py slow", 81, "an environment loads for 70 s", "the player waits for its answer")
quiet("q-ask", "fifo open", "h23_ask.py", 73, "somebody is asked, and answers after 60 s", "rank 0 opens a FIFO, rank 1 waits in a sum")
quiet("q-spare", "accept", "h23_spare.py", 88, "rank 0 waits for spare workers for 75 s at most", "rank 1 waits in a sum")
quiet("q-atomics", "epoll", "h23_atomics.js slow", 62, "a worker thread needs 48 s", "a trainer waits for its message")

if __name__ == "__main__":
    BOOK.write("truth23.json")
