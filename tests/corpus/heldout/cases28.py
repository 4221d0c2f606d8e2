"""What is true of each program of programs28; `cases28.py` as a program writes truth28.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, ranks, role
from kitcases import Book

BOOK = Book("h28-", "programs28")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|read|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|gather|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
SPIN = "spin|busy|loop|cpu|processor|comput|running|works|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"
SLEEP = "~nanosleep|select"

# Ranks
hang("server-count", "futex", "h28_server_count.py", role("server"), SUM + FUTEX + "worker|count|server|" + NEVER,
     "a server waits for a third worker's gradient, of two", {"rank0": "recv>server", "rank1": "recv>server", "server": "*futex@push"},
     also=[role("server", 0), cycle("rank0", "server"), cycle("rank1", "server"), cycle("rank0", "rank1", "server")])
hang("early-stop", "tcp recv", "h28_early_stop.py", ranks(2), SUM + ELSEWHERE + "stop|test|" + CIRCLE,
     "rank 2 has stopped early and gathers a test's result, the others want its gradient",
     {"rank0": "recv>rank2@mean", "rank1": "recv>rank0@mean", "rank2": "recv>rank1@test"}, also=[cycle("rank0", "rank1", "rank2")])
hang("save-inside", "unix read", "h28_save_inside.py", ranks(0), SUM + ELSEWHERE + "save|checkpoint|" + CIRCLE,
     "rank 0 alone is at a barrier in its checkpoint, the others want a gradient",
     {"rank0": "read>rank1@save_checkpoint", "rank1": "read>rank0@mean", "rank2": "read>rank0@mean"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2")])
hang("ffmpeg", "pipe", "h28_ffmpeg.py", cycle("rank1", "decoder"), SUM + "pipe|write|full|child|decod|" + CIRCLE,
     "rank 1 waits for a child that writes into a pipe which rank 1 does not read",
     {"rank0": "read>rank1@mean", "rank1": "wait>decoder@decode", "decoder": "write>rank1"},
     also=[ranks(1), role("decoder"), role("decoder", 1)])
hang("tokenizer-eof", "pipe", "h28_tokenizer_eof.py", role("uploader"), SUM + "pipe|inherit|copy|hold|held|open|" + CIRCLE + "|" + NEVER,
     "an uploader has the writing end of a tokenizer's stdin, the tokenizer reads on, main waits for it",
     {"main": "read>tokenizer@prepare", "tokenizer": "read>uploader"},
     also=[role("uploader", 0), role("tokenizer"), role("tokenizer", 0), cycle("tokenizer", "uploader"), cycle("main", "tokenizer")])
hang("stale-lock", "sleep loop", "h28_stale_lock.py", ranks(0), LOOP + FUTEX + "cache|lock|" + NEVER,
     "rank 0 waits until a lock file is gone whose maker has long ended", {"rank0": SLEEP + "@cached_file", "rank1": "read>rank0@mean"})
hang("logq", "futex", "h28_logq.py", ranks(1), FUTEX + "queue|full|put|log|" + NEVER,
     "rank 1's log queue is full, its listener's thread has ended", {"rank0": "recv>rank2@mean", "rank1": "futex@put", "rank2": "recv>rank1@mean"})
hang("prompt", "pipe", "h28_prompt.py", ranks(1), SUM + "stdin|pipe|input|ask|answer|question|launcher|" + CIRCLE + "|" + NEVER,
     "rank 1 asks a question, its stdin is a pipe of the launcher, which waits for its ranks",
     {"rank0": "read>rank1@mean", "rank1": "read>launcher@load_head", "launcher": "wait>rank0"},
     also=[role("launcher"), role("launcher", 1), cycle("rank1", "launcher"), cycle("launcher", "rank1", "rank0")])
hang("download-two", "flock", "h28_download_two.py", cycle("rank0", "rank1"), LOOP + FUTEX + "flock|" + CIRCLE,
     "rank 0 has a lock and looks for rank 1's mark, rank 1 wants the lock",
     {"rank0": SLEEP + "@fetch_model", "rank1": "flock>rank0@fetch_tokenizer"}, also=[ranks(0), ranks(1)])
hang("length", "tcp recv", "h28_length.py", cycle("rank0", "rank1"), SUM + "bytes|length|message|" + CIRCLE,
     "rank 0 waits for bytes that a length has told, rank 1 for the mean",
     {"rank0": "recv>rank1@exactly", "rank1": "recv>rank0@exactly"}, also=[ranks(0), ranks(1)])
hang("sigusr", "futex", "h28_sigusr.py", ranks(1), FUTEX + "signal|handler|itself|own|same|" + NEVER,
     "a signal's handler wants the lock that its own thread has", {"rank0": "read>rank1@mean", "rank1": "futex@dump", "rank2": "read>rank0@mean"})
hang("sqlite", "sleep loop", "h28_sqlite.py", ranks(1), LOOP + FUTEX + "sqlite|database|transaction|fcntl|" + CIRCLE,
     "rank 1 has left a transaction open and is in a sum, rank 0 waits for the database",
     {"rank0": "~nanosleep@report", "rank1": "read>rank0@mean"}, also=[ranks(0), cycle("rank0", "rank1")])
hang("semaphore", "futex", "h28_semaphore.py", ranks(2), FUTEX + "acquire|place|" + NEVER + "|" + CIRCLE,
     "rank 2 has not given back two places of a semaphore",
     {"rank0": "futex@load", "rank1": "futex@load", "rank2": "futex"},
     also=[ranks(0, 1), ranks(0), ranks(1), ranks(0, 1, 2), cycle("rank0", "rank1", "rank2")])
hang("barrier-count", "futex", "h28_barrier_count.py", ranks(0, 1, 2), FUTEX + "barrier|" + NEVER,
     "three ranks are at a barrier of four", {"rank0": "futex", "rank1": "futex", "rank2": "futex", "launcher": "wait>rank0"},
     also=[ranks(0), ranks(1), ranks(2), role("launcher"), role("launcher", 0), cycle("rank0", "rank1", "rank2")])
hang("zmq-rep", "zmq", "h28_zmq_rep.py", role("samples"), SUM + "zmq|zeromq|sample|request|" + CIRCLE + "|" + NEVER,
     "a server has dropped rank 1's request, rank 1 waits for the answer", {"rank0": "read>rank1@mean", "rank1": "poll", "samples": "poll"},
     also=[role("samples", 1), ranks(1), cycle("rank1", "samples")], needs=["zmq"])
hang("grpc-lock", "grpc", "h28_grpc_lock.py", role("service"), SUM + FUTEX + "grpc|service|push|" + NEVER,
     "a handler has ended with the lock, the next ones wait for it",
     {"rank0": "*futex|poll@push|mean", "rank1": "*~futex|poll@push", "service": "*futex@push"},
     also=[role("service", 0), role("service", 1), cycle("rank1", "service")], needs=["grpc"])
hang("mpi-if", "mpi", "3 h28_mpi_if.py", ranks(1), SUM + SPIN + ELSEWHERE + "mpi|allreduce|" + CIRCLE,
     "rank 1 does not take part in a sum that the others are in", {"rank0": "spin", "rank1": "spin", "rank2": "spin"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2"), cycle("rank1", "rank2")], needs=["mpi4py", "mpiexec"])
hang("mpi-anysource", "mpi", "3 h28_mpi_anysource.py", ranks(0), SUM + SPIN + ELSEWHERE + "mpi|recv|message|" + CIRCLE,
     "rank 0 receives one message more than there are", {"rank0": "spin", "rank1": "spin", "rank2": "spin"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2")], needs=["mpi4py", "mpiexec"])
hang("backlog", "tcp recv", "h28_backlog.py", role("batches"), SUM + "connect|accept|backlog|keep|hold|" + CIRCLE,
     "a server waits on rank 0's kept connection, rank 1's stands in its backlog, rank 0 waits for rank 1",
     {"rank0": "read>rank1@mean", "rank1": "recv@batch", "batches": "recv>rank0"},
     also=[ranks(0), ranks(1), role("batches", 0), role("batches", 1), cycle("rank0", "rank1", "batches"), cycle("batches", "rank0"),
           cycle("rank1", "batches")])
hang("shard-end", "sleep loop", "h28_shard_end.py", ranks(1), LOOP + GONE + "|loader|batch|shared|" + NEVER,
     "rank 1 looks for a batch of a loader that has ended", {"rank0": "read>rank1@mean", "rank1": SLEEP + "@next_batch", "loader": "gone"},
     also=[role("loader"), role("loader", 1)])
for mode, who, text, r0, r1 in (("early", 1, "rank 1 has one batch fewer, it is at the last barrier", "*futex@backward", "*futex|recv|poll@barrier"),
                                ("save", 0, "rank 0 alone is at a barrier in its save", "*futex@save", "*futex@backward")):
    hang("ddp-" + mode, "gloo", "h28_ddp.py " + mode, ranks(who), SUM + FUTEX + SPIN + ELSEWHERE + "gloo|backward|" + CIRCLE, text,
         {"rank0": r0, "rank1": r1}, also=[cycle("rank0", "rank1")], needs=["torch"])
hang("ddp-worker", "tcp recv", "h28_ddp.py worker", role("worker"), SUM + FUTEX + "worker|loader|store|" + NEVER,
     "a loader's worker of rank 0 waits for a store's answer, on a connection to itself",
     {"rank0": "~poll|select@_next_data", "worker": "recv@__getitem__", "rank1": "*futex@backward"}, also=[role("worker", 0), ranks(0)], needs=["torch"])

# Jobs of one process, preparation, evaluation
hang("async-ckpt", "futex", "h28_async_ckpt.py", role("main"), FUTEX + "checkpoint|event|save|" + NEVER,
     "a checkpoint's thread waits for an event that was set and cleared, main for the thread", {"main": "futex@save"})
hang("future", "futex", "h28_future.py", role("main"), FUTEX + SUM + "future|result|judge|" + NEVER + "|" + CIRCLE,
     "a future is not resolved, its answer had another number", {"main": "futex@result", "judge": "recv>main"},
     also=[role("judge"), role("judge", 0), cycle("main", "judge")])
hang("conn-pool", "futex", "h28_conn_pool.py", role("main"), FUTEX + "pool|queue|get|connection|itself|" + NEVER,
     "main wants a second connection of a pool of one", {"main": "futex@default_of", "store": "recv>main"},
     also=[ranks(0), cycle("main", "store")])
hang("queue-join", "pipe", "h28_queue_join.py", cycle("main", "evaluator"), SUM + FUTEX + "pipe|queue|full|write|child|" + CIRCLE,
     "main joins a child whose queue's pipe it does not read", {"main": "wait>evaluator@run_eval", "evaluator": "*write>main"},
     also=[role("main"), ranks(0), role("evaluator"), role("evaluator", 0)])
hang("initializer", "futex", "h28_initializer.py", role("main"), FUTEX + "pool|worker|initializ|start|child|die|end|" + NEVER,
     "a pool's workers end at once, again and again, map waits", {"main": "futex@epoch"}, also=[ranks(0), role("worker"), role("worker", 0)])
hang("aio-consumer", "epoll", "h28_aio_consumer.py", role("main"), SUM + "queue|put|task|epoll|event|loop|" + NEVER,
     "a task has ended with an error, the producer's queue is full", {"main": "epoll"})
hang("cond-credit", "futex", "h28_cond.c credit", role("main"), FUTEX + "signal|credit|" + NEVER + "|" + CIRCLE,
     "a loader's thread has missed a signal, main waits for its batch", {"main": "*futex"})
hang("cond-barrier", "futex", "h28_cond.c barrier", role("main"), FUTEX + "barrier|" + NEVER,
     "four threads are at a barrier of five", {"main": "*futex"})
hang("sem-exit", "futex", "h28_sem_exit.c", role("worker2"), FUTEX + GONE + "|place|post|" + NEVER,
     "worker 2 has ended with the place of a semaphore, the others wait for it",
     {"main": "wait", "worker0": "futex", "worker1": "futex", "worker2": "gone", "worker3": "futex"},
     also=[role("worker2", 0), role("worker0"), role("worker1"), role("worker3"), role("worker0", 0), role("worker1", 0), role("worker3", 0)])
hang("collector", "futex", "h28_collector.go", role("main"), FUTEX + "chan|WaitGroup|goroutine|send|" + NEVER,
     "a collector has returned, goroutines stand in their sends", {"main": "*~futex"})
hang("stream-end", "epoll", "h28_stream_end.js", role("main"), SUM + LOOP + "promise|event|epoll|timer|" + NEVER,
     "a promise waits for an end that an aborted answer does not tell", {"main": "~epoll"})
hang("mpsc", "futex", "h28_mpsc.rs", role("main"), FUTEX + "channel|sender|recv|" + NEVER,
     "main receives from a channel of which it has a sender itself", {"main": "futex"})
hang("fifo", "fifo", "h28_fifo.sh", role("main"), LOOP + "fifo|open|summary|pipe|watcher|" + NEVER,
     "a script opens a FIFO whose writer has ended", {"main": "open", "watcher": "gone"}, also=[ranks(0), role("watcher"), role("watcher", 0)])
hang("wait-files", "sleep loop", "h28_wait_files.sh", ranks(2), LOOP + "ready|wait|rank 2|" + ELSEWHERE + NEVER,
     "rank 2 has made its file under another name and is an epoch ahead, or waits for the others",
     {"launcher": "wait", "rank0": "~wait|clone|fork|pipe|exit|read", "rank1": "~wait|clone|fork|pipe|exit|read"},
     also=[ranks(0), ranks(1), ranks(0, 1), cycle("rank0", "rank1", "rank2")])

# Healthy ones
quiet("q-server-count", "futex", "h28_server_count.py slow", 96, "a server writes a checkpoint for 68 s", "two ranks wait for its mean")
quiet("q-early-stop", "tcp recv", "h28_early_stop.py slow", 96, "rank 2 evaluates for 66 s", "the others want its gradient")
quiet("q-save-inside", "unix read", "h28_save_inside.py slow", 100, "a checkpoint takes 70 s", "the others want rank 0's sum")
quiet("q-ffmpeg", "wait4", "h28_ffmpeg.py slow", 96, "a clip is decoded for 66 s", "rank 1 waits for it, rank 0 for rank 1")
quiet("q-tokenizer-eof", "pipe", "h28_tokenizer_eof.py slow", 94, "a tokenizer computes for 64 s", "main reads its pipe")
quiet("q-stale-lock", "sleep loop", "h28_stale_lock.py slow", 96, "a prefetch holds a lock file for 65 s", "rank 0 waits until it is gone")
quiet("q-logq", "futex", "h28_logq.py slow", 97, "a flush takes 67 s", "rank 1's queue is full, the others want its gradient")
quiet("q-prompt", "pipe", "h28_prompt.py slow", 93, "a launcher answers after 66 s", "rank 1 reads its stdin")
quiet("q-download-two", "flock", "h28_download_two.py slow", 96, "a model comes for 66 s", "rank 1 waits for its lock")
quiet("q-length", "tcp recv", "h28_length.py slow", 98, "a gradient comes in pieces for 70 s", "rank 0 receives it, rank 1 sleeps between them")
quiet("q-sqlite", "sleep loop", "h28_sqlite.py slow", 96, "a transaction takes 66 s", "rank 0 waits for the database")
quiet("q-semaphore", "futex", "h28_semaphore.py slow", 94, "rank 2 reads a shard for 64 s", "the others wait for a place")
quiet("q-barrier-count", "futex", "h28_barrier_count.py slow", 97, "rank 1 evaluates for 67 s", "the others are at a barrier")
quiet("q-zmq-rep", "zmq", "h28_zmq_rep.py slow", 96, "a sample is decoded for 66 s", "rank 1 waits for it", needs=["zmq"])
quiet("q-grpc-lock", "grpc", "h28_grpc_lock.py slow", 96, "a handler takes 66 s", "ranks wait for it", needs=["grpc"])
quiet("q-mpi-if", "mpi", "3 h28_mpi_if.py slow", 96, "rank 1 computes for 66 s", "the others wait in a sum", needs=["mpi4py", "mpiexec"])
quiet("q-mpi-anysource", "mpi", "3 h28_mpi_anysource.py slow", 95, "rank 2 sends after 65 s", "rank 0 receives", needs=["mpi4py", "mpiexec"])
quiet("q-backlog", "tcp recv", "h28_backlog.py slow", 96, "a server is busy for 66 s", "ranks wait for their batches")
quiet("q-shard-end", "sleep loop", "h28_shard_end.py slow", 94, "a shard is slow for 64 s", "rank 1 looks for its batch")
quiet("q-ddp-eval", "gloo", "h28_ddp.py eval slow", 115, "rank 0 evaluates for 66 s", "rank 1 is at a barrier", needs=["torch"])
quiet("q-async-ckpt", "futex", "h28_async_ckpt.py slow", 97, "a checkpoint takes 70 s", "main waits for it")
quiet("q-future", "futex", "h28_future.py slow", 94, "an answer takes 64 s", "main waits for its future")
quiet("q-conn-pool", "tcp recv", "h28_conn_pool.py slow", 96, "a store answers after 66 s", "main waits for it, without a word from the beginning")
quiet("q-queue-join", "wait4", "h28_queue_join.py slow", 96, "a child evaluates for 66 s", "main joins it")
quiet("q-initializer", "futex", "h28_initializer.py slow", 94, "a worker takes 64 s", "a pool's map waits")
quiet("q-aio-consumer", "epoll", "h28_aio_consumer.py slow", 95, "a task awaits for 65 s", "a producer's queue is full")
quiet("q-cond-barrier", "futex", "h28_cond.c barrier slow", 92, "a thread evaluates for 66 s", "three are at a barrier")
quiet("q-sem-exit", "futex", "h28_sem_exit.c slow", 92, "worker 2 has a semaphore for 66 s", "three wait for it")
quiet("q-collector", "futex", "h28_collector.go slow", 89, "a shard takes 66 s", "main waits")
quiet("q-stream-end", "epoll", "h28_stream_end.js slow", 90, "an answer trickles for 66 s", "main awaits it")
quiet("q-mpsc", "futex", "h28_mpsc.rs slow", 91, "a thread reads for 66 s", "main receives")
quiet("q-fifo", "fifo", "h28_fifo.sh slow", 89, "a watcher sorts for 66 s", "a script opens a FIFO")
quiet("q-wait-files", "sleep loop", "h28_wait_files.sh slow", 96, "rank 2 sleeps for 67 s", "the others look for its file")

if __name__ == "__main__":
    BOOK.write("truth28.json")
