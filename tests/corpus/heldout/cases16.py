"""What is true of each program of programs16; `cases16.py` as a program writes truth16.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h16-", "programs16")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
NOBODY = {"nobody": NEVER}
SUM = "recv|tcp|socket|list|key|peer|answer|collective|barrier|gradient|sum|reduc|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"
PIPE = "read|write|pipe|fifo|recv|send|full|open|"

# Ranks that do not do the same
hang("metric-keys", "tcp recv", "h16_metric_keys.py", ranks(1), SUM + ELSEWHERE + "metric|" + CIRCLE,
     "rank 1 lacks a metric and is in the next sum, the others average the metric",
     {**all_of(3, "recv>rank1@log_metrics", 1, 2), "rank2": "recv@log_metrics", "rank1": "recv>rank0@body"},
     also=[cycle("rank0", "rank1"), cycle("rank1", "rank2"), cycle("rank0", "rank1", "rank2"), ranks(0, 2)])
hang("accum", "server of lists", "h16_accum.py", ranks(2), SUM + ELSEWHERE + "accum|epoch|" + CIRCLE,
     "rank 2 has half as many sums, and is at the epoch's end when the others are in its middle",
     {**all_of(3, "recv>lists@mean", 2), "rank2": "recv>lists@finish"},
     also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2"), cycle("rank1", "rank2"), ranks(0, 1)])
hang("chunks", "pipe", "h16_chunks.py", ranks(2), PIPE + ELSEWHERE + "chunk|" + CIRCLE,
     "rank 2 waits for a third chunk of its step, the others are in the next one",
     {**all_of(3, "read@activations")},
     also=[cycle("rank0", "rank2"), cycle("rank1", "rank2"), cycle("rank0", "rank1", "rank2"), ranks(0, 1)])
hang("retry-after", "nanosleep", "h16_retry_after.py", ranks(2), SUM + ELSEWHERE + "sleep|retry|http|429|fetch",
     "rank 2 sleeps for 12 hours as a hub told it milliseconds, the others wait for its gradient",
     {"rank0": "recv@mean", "rank1": "recv@mean", "rank2": "nanosleep@fetch"})
hang("self-done", "sleep loop", "h16_self_done.py", ranks(0), LOOP + ELSEWHERE + r"done-|merged-|itself|" + NEVER,
     "rank 0 waits for its own mark, which it would write afterwards",
     {**all_of(3, "~nanosleep@checkpoint")},
     also=[outside(r"done-25\.0|merged-25"), NOBODY, ranks(0, 1, 2), cycle("rank0", "rank1", "rank2")])
hang("tmpdir", "sleep loop", "h16_tmpdir.py", ranks(1), LOOP + SUM + ELSEWHERE + "index|cache|" + NEVER,
     "rank 1 looks for the index in a folder in which nobody writes",
     {"rank0": "recv>rank1@mean", "rank1": "~nanosleep@index"}, also=[outside(r"cache-local1"), NOBODY])
hang("turn", "sleep loop", "h16_turn.py", ranks(2), LOOP + SUM + ELSEWHERE + "turn|" + NEVER,
     "rank 2 waits for a turn that rank 1 has not given on, the others are in the next step",
     {"launcher": "wait4>rank0", "rank0": "recv@mean", "rank1": "recv@mean", "rank2": "~nanosleep@write_predictions"},
     also=[ranks(1), cycle("rank1", "rank2")])
hang("late-sub", "zmq", "h16_late_sub.py", ranks(1), "zmq|zeromq|poll|round|subscri|recv|" + SUM + ELSEWHERE + NEVER,
     "rank 1 waits for a round that was published before it subscribed again, the coordinator for its update",
     {"coordinator": "poll@coordinate", **all_of(3, "poll@next_round|recv")},
     also=[cycle("rank1", "coordinator"), role("coordinator"), NOBODY], needs=["zmq"])
hang("log-queue", "semaphore", "h16_log_queue.py", role("launcher"), FUTEX + "queue|log|full|not read|" + NEVER + "|" +
     GONE, "the thread of the launcher that writes rank 0's logs has ended, the queue is full, the others wait for rank 0",
     {"launcher": "wait4>rank0", "rank0": "futex@log", "rank1": "recv@mean", "rank2": "recv@mean"},
     also=[NOBODY, ranks(0)], loud=True)
hang("mpi-stop", "mpi", "3 h16_mpi_stop.py", ranks(1), "mpi|recv|message|barrier|stop|spin|poll|" + ELSEWHERE + CIRCLE,
     "rank 1 waits for a text or a stop, the others are at a barrier",
     {**all_of(3, "spin")}, also=[cycle("rank0", "rank1"), ranks(0), cycle("rank0", "rank1", "rank2"), ranks(0, 2)],
     needs=["mpi4py", "mpiexec"])
hang("shm-mutex", "futex", "h16_shm_mutex.c", ranks(2), FUTEX + GONE, "rank 2 has left with a mutex in shared memory",
     {"launcher": "wait4>rank0", "rank0": "futex", "rank1": "futex", "rank2": "gone"}, also=[NOBODY], gone=True)

# Services and tools beside a job
hang("inherited-pipe", "pipe", "h16_inherited_pipe.c", cycle("main", "tokenizer0", "tokenizer1"), PIPE + CIRCLE,
     "main waits for a tokenizer, whose input is held open by the other one, which waits for main",
     {"main": "wait4>tokenizer0", "tokenizer0": "read>tokenizer1", "tokenizer1": "read>main"},
     also=[role("main"), role("tokenizer1"), role("tokenizer0"), ranks(0)])
hang("zmq-hwm", "zmq", "h16_zmq_hwm.py", role("tracker"), "zmq|zeromq|poll|send|full|buffer|not read|" + NEVER + "|" +
     GONE, "the tracker's thread has ended, and send() waits when the buffers are full",
     {"main": "poll@train", "tracker": "~nanosleep"}, also=[role("main"), ranks(0), cycle("main", "tracker"), NOBODY],
     needs=["zmq"])
hang("grpc-callback", "grpc", "h16_grpc_callback.py", role("main"), FUTEX + "grpc|callback|result|itself|" + NEVER,
     "a callback of gRPC waits for an answer that its own thread would bring", {"main": "futex@train"},
     also=[NOBODY, cycle("main", "main"), role("rewards")], needs=["grpc"])
hang("open-transaction", "sqlite", "h16_open_transaction.py", cycle("main", "worker0", "worker1"), LOOP + FUTEX +
     "sqlite|study|transaction|wait4|join|" + CIRCLE,
     "the workers wait for main's transaction, main for the workers",
     {"main": "wait4>worker0", "worker0": "~nanosleep@worker", "worker1": "~nanosleep@worker"},
     also=[role("main"), ranks(0), cycle("main", "worker0"), cycle("main", "worker1"), outside(r"study\.db")])
hang("health", "sleep loop", "h16_health.sh", cycle("main", "service"), LOOP + "http|503|health|" + CIRCLE + "|" + NEVER,
     "a script waits for a healthy service, which waits for its first request",
     {"main": "~wait4", "service": "~poll"}, also=[role("main"), role("service"), ranks(0), NOBODY], needs=["curl"])
hang("fifo-order", "fifo open", "h16_fifo_order.py", cycle("main", "scorer"), PIPE + CIRCLE,
     "main opens the samples and the scorer the answers, each waits for the other end",
     {"main": "openat wait_for_partner@ask", "scorer": "openat wait_for_partner@scorer"},
     also=[role("main"), role("scorer"), ranks(0)])
hang("stderr", "pipe", "h16_stderr.go", cycle("main", "converter"), PIPE + "goroutine|epoll|idle|stderr|" + CIRCLE,
     "main reads the stdout of a converter that writes to a full stderr",
     {"main": "*epoll", "converter": "*write>main"}, also=[role("main"), role("converter"), ranks(0)])
hang("term-loader", "fifo", "h16_term_loader.sh", role("trainer"), PIPE + "itself|own|" + NEVER + "|" + GONE,
     "a trainer reads a FIFO whose loader has ended, and which only it itself has open",
     {"main": "wait4", "loader": "gone", "trainer": "read@next_batch"}, also=[NOBODY, role("loader"), outside("batches")])
hang("ipc-open", "epoll", "h16_ipc_open.js", cycle("main", "evaluator"), PIPE + "epoll|node|child|exit|idle|ipc|" + CIRCLE,
     "main waits for the exit of a child, which listens for messages of main",
     {"main": "epoll", "evaluator": "epoll"}, also=[role("main"), role("evaluator"), ranks(0), NOBODY])

# Threads
hang("wg-copy", "go", "h16_wg_copy.go", role("main"), FUTEX + "goroutine|epoll|idle|" + NEVER,
     "a WaitGroup was copied, and is never counted down", {"main": "*epoll|futex"}, also=[NOBODY])
hang("if-let", "futex", "h16_if_let.rs", role("main"), FUTEX + "itself|own|" + CIRCLE,
     "main takes a lock that it has itself", {"main": "futex"}, also=[cycle("main", "main"), cycle("main"), NOBODY])
hang("notify-one", "java", "h16_notify_one.java", role("main"), FUTEX + "java|park|idle|monitor|notif|" + NEVER,
     "a notify went to another thread, main waits for the one that was not woken", {"main": "futex"}, also=[NOBODY],
     needs=["java"])
hang("async-future", "futex", "h16_async_future.cpp", role("main"), FUTEX + "future|itself|own|" + CIRCLE + "|" + NEVER,
     "a future waits in its destructor for a thread, which waits for main", {"main": "futex"},
     also=[cycle("main", "main"), NOBODY])
hang("threadsafe", "futex", "h16_threadsafe.py", role("main"), FUTEX + "asyncio|loop|result|itself|own|" + NEVER,
     "the loop's thread waits for a coroutine of its own loop", {"main": "futex@send_and_wait"},
     also=[cycle("main", "main"), NOBODY])
hang("prefetch-join", "futex", "h16_prefetch_join.py", role("main"), FUTEX + "queue|full|put|" + CIRCLE + "|" + NEVER,
     "main joins a thread that puts into a full queue, which main would read", {"main": "futex@shut_down"},
     also=[cycle("main", "main"), NOBODY])
hang("atomics", "futex", "h16_atomics.js", role("main"), FUTEX + "node|atomics|worker|epoll|idle|" + CIRCLE + "|" + NEVER,
     "main waits for a worker thread, which waits for a message of main", {"main": "futex"},
     also=[cycle("main", "main"), NOBODY])

# Healthy ones
quiet("q-eval", "tcp recv", "h16_q_eval.py", 65, "rank 0 evaluates for 50 s", "ranks wait for one that works")
quiet("q-backoff", "nanosleep", "h16_q_backoff.py", 63, "a hub said to come again in 50 s", "a program that sleeps")
quiet("q-turn", "sleep loop", "h16_q_turn.py", 62, "rank 1 works for 48 s", "a rank waits for its turn")
quiet("q-fifo", "fifo open", "h16_q_fifo.py", 62, "a model loads for 50 s", "a program opens a FIFO")
quiet("q-vacuum", "sqlite", "h16_q_vacuum.py", 60, "statistics take 48 s", "a program waits for a lock of sqlite")
quiet("q-sub", "zmq", "h16_q_sub.py", 65, "the coordinator works for 50 s", "ranks wait for a round", needs=["zmq"])
quiet("q-grpc-long", "grpc", "h16_q_grpc_long.py", 62, "an answer takes 50 s of work", "a call by gRPC", needs=["grpc"])
quiet("q-mpi", "mpi", "2 h16_q_mpi.py", 60, "rank 1 works for 48 s", "rank 0 waits for it by MPI",
      needs=["mpi4py", "mpiexec"])
quiet("q-wg", "go", "h16_q_wg.go", 60, "two goroutines work for 50 s", "main waits for them")
quiet("q-monitor", "java", "h16_q_monitor.java", 62, "a thread works for 50 s", "main waits for it", needs=["java"])
quiet("q-child", "epoll", "h16_q_child.js", 61, "a child works for 50 s", "main waits for its exit")
quiet("q-health", "sleep loop", "h16_q_health.sh", 60, "a service loads for 50 s", "a script waits until it is healthy",
      needs=["curl"])
quiet("q-cond", "futex", "h16_q_cond.rs", 59, "a wait of 48 s has an end", "a score that does not come")
quiet("q-shm", "futex", "h16_q_shm.c", 59, "rank 1 works for 48 s with a mutex", "rank 0 waits for it")

if __name__ == "__main__":
    BOOK.write("truth16.json")
