"""What is true of each program of programs24; `cases24.py` as a program writes truth24.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, ranks, role
from kitcases import Book

BOOK = Book("h24-", "programs24")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|gather|select|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
SPIN = "spin|busy|loop|cpu|processor|comput|running|works|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"

# Ranks
hang("no-sync", "unix recv", "h24_no_sync.py", ranks(1), SUM + ELSEWHERE + "sync|" + CIRCLE,
     "rank 1 has left a block by an error, and its sum of gradients stays off for a step",
     {"rank0": "recv>rank1@sum_gradient", "rank1": "recv>rank0@sum_gradient", "rank2": "recv>rank1@sum_gradient"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2")])
hang("context-group", "tcp recv", "h24_context_group.py", ranks(1), SUM + FUTEX + ELSEWHERE + "accuracy|group|" + CIRCLE,
     "rank 1 sums an accuracy over all ranks from a thread, the others wait for its gradient",
     {"rank0": "recv>rank1@all_reduce", "rank1": "futex@accuracy", "rank2": "recv>rank1@all_reduce"},
     also=[cycle("rank1", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("sync-bn", "tcp recv", "h24_sync_bn.py", ranks(2), SUM + ELSEWHERE + "statistics|normalize|" + CIRCLE,
     "rank 2 has left out a sum of statistics and is in that of the gradients",
     {"rank0": "recv>rank2@normalize", "rank1": "recv>rank2@normalize", "rank2": "recv>rank0@all_reduce"},
     also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("await-lock", "futex", "h24_await_lock.py", ranks(1), FUTEX + "loop|asyncio|task|itself|own|embed|" + CIRCLE + "|" + NEVER,
     "a task of rank 1 waits for a thread's lock that another task of the same loop has", {"rank0": "recv>rank1@all_reduce", "rank1": "futex@embed"})
hang("gen-close", "futex", "h24_gen_close.py", ranks(1), FUTEX + "queue|full|put|room|pool|executor|generator|samples|" + CIRCLE,
     "rank 1 closes a generator, whose pool waits for a thread that waits for room in a queue",
     {"rank0": "recv>rank1@all_reduce", "rank1": "futex@samples"})
hang("sentinel-full", "futex", "h24_sentinel_full.py", ranks(1), FUTEX + "queue|batch|get|" + NEVER,
     "rank 1 waits for a batch from a thread that has ended", {"rank0": "recv>rank1@all_reduce", "rank1": "futex@next_batch"})
hang("zmq-fd", "select", "h24_zmq_fd.py", ranks(1), SUM + "zmq|zeromq|message|event|collect|" + NEVER,
     "rank 1 waits for a change of its socket of ZeroMQ, which has an answer already",
     {"rank0": "recv>rank1@all_reduce", "rank1": "select@collect", "service": "poll@serve"},
     also=[cycle("rank1", "service"), role("service"), role("service", 1)], needs=["zmq"])
hang("expect-100", "http", "h24_expect_100.py", cycle("rank1", "store"), SUM + "http|head|body|upload|continue|" + CIRCLE,
     "rank 1 waits to be told to go on, the store for the body",
     {"rank0": "recv>rank1@all_reduce", "rank1": "recv>store@upload", "store": "recv>rank1@keep"},
     also=[ranks(1), role("store"), role("store", 1)])
hang("sendfile", "tcp send", "h24_sendfile.py", cycle("rank1", "files"), SUM + "send|full|connection|index|fetch|" + CIRCLE,
     "a server sends a file of which rank 1 reads no more, rank 1 waits for that server's next answer",
     {"rank0": "recv>rank1@all_reduce", "rank1": "recv@fetch_index", "files": "(sendfile|S 40 )@give"},
     also=[ranks(1), role("files"), role("files", 1)])
hang("grpc-stop", "grpc", "h24_grpc_stop.py", role("evaluator"), SUM + FUTEX + "grpc|stop|itself|own|event|" + CIRCLE + "|" + NEVER,
     "an evaluator waits, in a call, until no call is under way; rank 1 waits for that call",
     {"rank0": "recv>rank1@all_reduce", "rank1": "*~futex|poll|epoll@stop_evaluator", "evaluator": "*~futex@stop "},
     also=[role("evaluator", 1), cycle("rank1", "evaluator"), ranks(1)], needs=["grpc"])
hang("mpi-halo", "mpi", "3 h24_mpi_halo.py", ranks(2), SUM + SPIN + ELSEWHERE + "mpi|exchange|edge|message|" + CIRCLE,
     "rank 2 waits for an edge that rank 0 does not send, the others are in a sum",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin"}, also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")],
     needs=["mpi4py", "mpiexec"])

# Actors, savers, searches, tokenizers and servers
hang("getstate-lock", "futex", "h24_getstate_lock.py", role("main"), SUM + FUTEX + "pipe|read|queue|save|" + CIRCLE + "|" + NEVER,
     "main waits for a saver's word with a lock that the thread wants which is to send the model",
     {"main": "read|futex@save ", "saver": "read|futex@save_all"}, also=[cycle("main", "saver"), role("saver"), role("saver", 0)])
hang("rate-limiter", "tcp recv", "h24_rate_limiter.py", role("table"), SUM + FUTEX + "insert|sample|" + CIRCLE + "|" + NEVER,
     "a table lets nobody put in nor take out; learner and actors wait for it",
     {"main": "recv>table@ask", "actor0": "recv>table@ask", "actor1": "recv>table@ask", "table": "*futex@insert"},
     also=[role("table", 0), cycle("main", "table"), cycle("actor0", "table"), cycle("actor1", "table")])
hang("too-stale", "zmq", "h24_too_stale.py", cycle("main", "actor0", "actor1"), SUM + "zmq|zeromq|message|episode|weights|" + CIRCLE + "|" + NEVER,
     "a learner has thrown old episodes away and waits for more, the actors wait for new weights",
     {"main": "poll@learn", "actor0": "poll@play", "actor1": "poll@play"},
     also=[cycle("main", "actor0"), cycle("main", "actor1"), role("main"), ranks(0)], needs=["zmq"])
hang("retry-window", "sem", "h24_retry_window.py", cycle("retrier", "writer"), SUM + FUTEX + "pipe|read|place|token|" + CIRCLE + "|" + NEVER,
     "who tries a sample again waits for a place, the writer, who gives places back, for that sample",
     {"main": "futex@feed", "retrier": "futex@try_again", "writer": "read|futex@write_in_order"},
     also=[role("retrier"), role("retrier", 0), role("writer"), role("writer", 0), cycle("main", "retrier", "writer"), role("main"), ranks(0)])
hang("notify-killed", "sem", "h24_notify_killed.py", role("loader1"), FUTEX + "event|set|notify|" + GONE + "|" + NEVER,
     "main waits to hear that a loading process is awake which was killed", {"main": "futex@resume", "loader1": "gone"},
     also=[role("main"), ranks(0), role("loader1", 0)], gone=True)
hang("rung-slots", "sem", "h24_rung_slots.py", role("main"), SUM + FUTEX + "pipe|read|slot|trial|" + CIRCLE + "|" + NEVER,
     "a scheduler waits for a slot, three trials have all slots and wait for the scheduler's word",
     {"main": "futex@take_slot", "trial0": "read>main@trial", "trial1": "read>main@trial", "trial2": "read>main@trial"},
     also=[cycle("main", "trial0", "trial1", "trial2"), cycle("main", "trial0"), cycle("main", "trial1"), cycle("main", "trial2")])
hang("drain-count", "wait4", "h24_drain_count.py", role("scorer"), FUTEX + "child|drain|count|request|stop|" + NEVER,
     "a scorer waits until no request is under way, and has miscounted; main waits for its end",
     {"main": "wait4>scorer@evaluate", "scorer": "futex@drain"}, also=[role("scorer", 0), cycle("main", "scorer")])
hang("wait-done", "spin", "h24_wait_done.py", role("main"), SPIN + FUTEX + "future|download|" + NEVER,
     "main looks again and again at a download that has failed long ago", {"main": "spin"})
hang("three-pipes", "pipe write", "h24_three_pipes.py", cycle("lister", "sender", "receiver"), "pipe|full|write|" + CIRCLE,
     "three processes in a circle all wait for room in a pipe that the next one reads",
     {"main": "wait4", "lister": "write>sender", "sender": "write>receiver", "receiver": "write>lister"},
     also=[role("lister"), role("sender"), role("receiver")])
hang("contiguous", "futex", "h24_contiguous.c", cycle("main", "decoder"), FUTEX + "memory|ring|record|" + CIRCLE + "|" + NEVER,
     "a decoder waits for room in an empty ring, main for a record", {"main": "futex", "decoder": "futex"},
     also=[role("decoder"), role("decoder", 0), role("main"), ranks(0)])
hang("mq-notify", "signal", "h24_mq_notify.c", cycle("main", "actor"), "queue|full|mq|send|signal|sigwait|message|told|" + CIRCLE + "|" + NEVER,
     "main waits to be told of messages in a queue that is full, the actor for room in it",
     {"main": "(sigtimedwait|S 128 )", "actor": "mq_timedsend"}, also=[role("actor"), role("actor", 0), role("main"), ranks(0)])

# One process
hang("tls-dtor", "futex", "h24_tls_dtor.cpp", role("main"), FUTEX + GONE + "|destructor|" + NEVER,
     "main waits for a thread whose destructor waits for one that has ended", {"main": "futex"})
hang("recursive-wait", "futex", "h24_recursive_wait.cpp", role("main"), FUTEX + "itself|own|batch|" + CIRCLE,
     "main waits for a batch and has the lock that the loading thread wants", {"main": "futex"})
hang("drop-order", "futex", "h24_drop_order.rs", role("main"), FUTEX + "channel|recv|drop|" + CIRCLE + "|" + NEVER,
     "main waits in a destructor for a thread that waits for the end of main's channel", {"main": "futex"})
hang("park-count", "futex", "h24_park_count.rs", role("main"), FUTEX + "park|piece|" + NEVER,
     "main parks for a second piece of which it was told together with the first", {"main": "futex"})
hang("once-panic", "go", "h24_once_panic.go", role("main"), FUTEX + "goroutine|group|channel|chan|once|index|" + NEVER,
     "the main goroutine waits for one that waits for an index whose load has failed", {"main": "*~futex|epoll"})
hang("io-pipe", "go", "h24_io_pipe.go", role("main"), FUTEX + "goroutine|group|pipe|write|select|" + NEVER,
     "the main goroutine waits for one that writes into a pipe of which nobody reads", {"main": "*~futex|epoll"})
hang("fair-acquire", "java", "h24_fair_acquire.java", role("main"), FUTEX + "park|permit|acquire|" + CIRCLE + "|" + NEVER,
     "threads with a permit each wait behind one that wants all", {"main": "*futex"}, needs=["java"])
hang("stamped", "java", "h24_stamped.java", role("main"), FUTEX + "park|itself|own|read|write|" + CIRCLE + "|" + NEVER,
     "main wants a lock for reading that it has for writing", {"main": "*futex"}, needs=["java"])

# Scripts and children
hang("pipe-two", "epoll", "h24_pipe_two.js", cycle("main", "source"), SUM + "pipe|full|write|stream|epoll|child|" + CIRCLE,
     "an exporter has stopped to read from its source, as one of two streams is full; the source waits for room",
     {"main": "~epoll", "source": "~epoll"}, also=[role("source"), role("source", 0), role("main"), ranks(0)])
hang("alarm-flag", "pipe", "h24_alarm_flag.pl", cycle("main", "scorer"), "pipe|read|answer|child|" + CIRCLE,
     "main reads on after its alarm, the scorer waits for the next question",
     {"main": "read>scorer", "scorer": "read>main"}, also=[role("scorer"), role("scorer", 0), role("main"), ranks(0)], needs=["perl"])
hang("xargs-order", "sleep loop", "h24_xargs_order.sh", role("xargs"), LOOP + "wait|child|xargs|vocabulary|" + CIRCLE + "|" + NEVER,
     "two tasks look for a file that a later one would make, xargs waits for one of the two",
     {"main": "wait4>xargs", "xargs": "wait4", "task-wants-a": "~wait4|nanosleep", "task-wants-b": "~wait4|nanosleep"},
     also=[role("xargs", 0), role("task-wants-a"), role("task-wants-b"), role("task-wants-a", 0), role("task-wants-b", 0),
           cycle("xargs", "task-wants-a"), cycle("xargs", "task-wants-b"), cycle("xargs", "task-wants-a", "task-wants-b"), role("main"), ranks(0)])
hang("semaphore", "sleep loop", "h24_semaphore.sh", cycle("outer", "inner"), LOOP + FUTEX + "flock|child|place|" + CIRCLE + "|" + NEVER,
     "a command wants a semaphore's one place, which the one has who waits for the command",
     {"main": "wait4", "outer": "~wait4|read|select|nanosleep", "inner": "~nanosleep|select|flock"},
     also=[role("inner"), role("inner", 0), role("outer"), role("outer", 0)], needs=["sem"])

# Healthy ones
quiet("q-no-sync", "unix recv", "h24_no_sync.py slow", 74, "rank 1 compiles for 60 s", "the others wait in a sum")
quiet("q-context-group", "tcp recv", "h24_context_group.py slow", 75, "rank 1 validates for 62 s", "the others wait in sums")
quiet("q-await-lock", "futex", "h24_await_lock.py slow", 65, "a thread of rank 1 builds an index for 52 s", "rank 1's loop waits for its lock")
quiet("q-gen-close", "futex", "h24_gen_close.py slow", 83, "a thread of rank 1 writes an index for 70 s", "rank 1 closes a generator")
quiet("q-zmq-fd", "select", "h24_zmq_fd.py slow", 60, "a service computes a feature for 48 s", "rank 1 waits at a socket's descriptor")
quiet("q-expect-100", "http", "h24_expect_100.py slow", 92, "a store looks for room for 80 s", "rank 1 waits to be told to go on")
quiet("q-sendfile", "tcp send", "h24_sendfile.py slow", 76, "rank 1 unpacks for 64 s", "a server waits to send the rest, rank 0 in a sum")
quiet("q-mpi-halo", "mpi", "3 h24_mpi_halo.py slow", 60, "rank 1 writes for 48 s", "the others wait for its edge or in a sum",
      needs=["mpi4py", "mpiexec"])
quiet("q-getstate-lock", "pipe", "h24_getstate_lock.py slow", 78, "a saver compresses for 66 s", "main waits for its word, with a lock")
quiet("q-too-stale", "zmq", "h24_too_stale.py slow", 84, "an actor plays for 72 s", "learner and the other actor wait")
quiet("q-rung-slots", "pipe", "h24_rung_slots.py slow", 86, "a trial trains for 76 s", "the others wait for word, the scheduler for its loss")
quiet("q-drain-count", "wait4", "h24_drain_count.py slow", 64, "a last request takes 56 s", "a scorer waits for it, main for the scorer")
quiet("q-mq-notify", "signal", "h24_mq_notify.c slow", 58, "an actor's episode takes 48 s", "the learner waits for a signal")
quiet("q-fair-acquire", "java", "h24_fair_acquire.java slow", 62, "a thread has all permits for 52 s", "others wait for one", needs=["java"])
quiet("q-alarm-flag", "pipe", "h24_alarm_flag.pl slow", 73, "an alarm comes after 60 s", "main waits for an answer that does not come", needs=["perl"])
quiet("q-xargs-order", "sleep loop", "h24_xargs_order.sh slow", 87, "a vocabulary is made for 78 s", "a task looks for its file")
quiet("q-lease", "open", "h24_lease.py", 56, "the kernel takes a lease back after 45 s", "rank 1 opens the leased file, rank 0 waits in a sum")
quiet("q-approval", "accept", "h24_approval.py", 82, "somebody approves after 70 s", "rank 0 waits for a connection, rank 1 in a sum")

if __name__ == "__main__":
    BOOK.write("truth24.json")
