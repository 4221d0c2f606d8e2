"""What is true of each program of programs18; `cases18.py` as a program writes truth18.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book

BOOK = Book("h18-", "programs18")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|mean|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"
PIPE = "read|write|pipe|fifo|recv|send|full|open|"

# Ranks
hang("hooks", "futex", "h18_hooks.py", ranks(1), FUTEX + ELSEWHERE + SUM + "Event|bucket|hook|" + NEVER,
     "a batch of rank 1 has no masks: its bucket is never full, rank 0's thread waits for its part of it",
     {"rank0": "*recv>rank1@finish", "rank1": "futex@finish"})
hang("cache-seen", "tcp recv", "h18_cache_seen.py", ranks(2), SUM + ELSEWHERE + "cache|prepare|" + CIRCLE,
     "rank 2 came late, found the cache of rank 0, and left out the sum in which the others are",
     {"rank0": "recv>rank2@prepare", "rank1": "recv>rank0@prepare", "rank2": "recv>rank0@train_step"},
     also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("least-load", "unix recv", "h18_least_load.py", cycle("rank0", "rank1"), SUM + "checkpoint|load|" + CIRCLE,
     "each rank takes the other one for the one that writes the checkpoint",
     {"rank0": "recv>rank1@checkpoint", "rank1": "recv>rank0@checkpoint"})
hang("backoff", "sleep", "h18_backoff.py", ranks(1), "sleep|delay|retr|backoff|back off|fetch|503",
     "rank 1 sleeps for 720 s after a third failure of a service",
     {"rank0": "recv>rank1@mean", "rank1": "nanosleep@fetch", "rank2": "recv>rank0@mean"})
hang("tied", "tcp recv", "h18_tied.py", cycle("rank0", "rank1", "rank2"), SUM + ELSEWHERE + "tied|" + CIRCLE,
     "rank 0 leaves an exchange with rank 2 out, and waits by way of rank 1 for it",
     {"rank0": "recv>rank1@forward_backward", "rank1": "recv>rank2@forward_backward",
      "rank2": "recv>rank0@exchange_tied"},
     also=[ranks(0), ranks(2), cycle("rank0", "rank2")])
hang("mpi-swap", "mpi", "3 h18_mpi_swap.py", cycle("rank0", "rank1"),
     "mpi|probe|recv|swap|round|" + ELSEWHERE + CIRCLE,
     "rank 1 has turned a swap down without a word, rank 0 waits for it, rank 1 later for rank 0",
     {"rank0": "~nanosleep@swap", "rank1": "~nanosleep@swap", "rank2": "~nanosleep@swap"}, needs=["mpi4py", "mpiexec"],
     also=[ranks(1), ranks(0), cycle("rank0", "rank1", "rank2")])
hang("count-barrier", "sleep loop", "h18_count_barrier.c", ranks(2),
     LOOP + ELSEWHERE + "barrier|count|shared|" + CIRCLE + "|" + NEVER,
     "rank 2 looks too late at a count that rank 0 has set back, and is one barrier behind",
     {"rank0": "~nanosleep", "rank1": "~nanosleep", "rank2": "~nanosleep"},
     also=[cycle("rank0", "rank2"), cycle("rank1", "rank2"), cycle("rank0", "rank1", "rank2")])
hang("sem-reinit", "semaphore", "h18_sem_reinit.c", cycle("rank0", "rank1"), FUTEX + "post|" + CIRCLE + "|" + NEVER,
     "rank 1 has set semaphores up anew, and a post of rank 0 is lost: each waits for the other",
     {"rank0": "futex", "rank1": "futex"}, also=[ranks(1), ranks(0)])

# Two that talk
hang("bar-cr", "pipe", "h18_bar_cr.py", cycle("main", "converter"), PIPE + "line|newline|" + CIRCLE,
     "a trainer waits for the end of a line, its converter draws a bar and waits for an answer to it",
     {"main": "read>converter@next_shard", "converter": "read>main"}, also=[role("converter"), role("main"), ranks(0)])
hang("router", "zmq", "h18_router.py", cycle("main", "worker1"),
     "zmq|ZeroMQ|poll|recv|task|result|" + CIRCLE + "|" + NEVER,
     "a ROUTER has dropped a task for a name that its worker no longer has",
     {"main": "poll@train", "worker0": "poll@work", "worker1": "poll@work"}, needs=["zmq"],
     also=[role("main"), role("worker1"), ranks(0), cycle("main", "worker0", "worker1")])
hang("conflate", "zmq", "h18_conflate.py", cycle("main", "worker"),
     "zmq|ZeroMQ|poll|recv|score|" + CIRCLE + "|" + NEVER,
     "newer weights have taken the place of a request: a trainer waits for a score, the worker for a message",
     {"main": "poll@train", "worker": "poll@work"}, needs=["zmq"], also=[role("main"), role("worker"), ranks(0)])
hang("grpc-ready", "grpc", "h18_grpc_ready.py", role("evaluator"), FUTEX + "grpc|ready|refused|connect|" + GONE,
     "a trainer waits for an evaluator to be ready that has ended", {"main": "~futex|epoll_wait@evaluate",
     "evaluator": "gone"},
     needs=["grpc"], gone=True, also=[role("main"), ranks(0), outside("refused|wait_for_ready|unary_unary")])
hang("no-length", "http", "h18_no_length.py", cycle("main", "server"), SUM + "http|connection|response|" + CIRCLE,
     "a trainer reads an answer until the connection's end, its server waits for the next request on it",
     {"main": "recv>server@read_shard", "server": "recv>main"}, also=[role("server"), role("main"), ranks(0)])
hang("mailbox", "tcp recv", "h18_mailbox.py", cycle("main", "service"),
     SUM + "prompt|score|service|" + CIRCLE + "|" + NEVER,
     "a service has dropped prompts for which its box had no room, the trainer waits for their answers",
     {"main": "recv>service@score", "service": "recv>main"}, also=[role("service"), role("main"), ranks(0)])
hang("dangling", "sleep loop", "h18_dangling.py", role("evaluator"), LOOP + "ckpt|latest|link|" + NEVER,
     "an evaluator looks for a link that points to nothing, the trainer waits for its score",
     {"main": "read>evaluator@train", "evaluator": "~nanosleep@await_checkpoint"},
     also=[outside("latest"), cycle("main", "evaluator")])
hang("own-event", "mp event", "h18_own_event.py", role("exporter"), FUTEX + "event|" + NEVER,
     "a spawned exporter waits for an event of its own, the trainer for its end",
     {"main": "wait4>exporter", "exporter": "futex@export"}, also=[cycle("main", "exporter")])
hang("poison", "pipe read", "h18_poison.py", role("worker"), LOOP + PIPE + "clip|again|decode|fail",
     "a worker tries a broken clip again and again, the trainer waits for its frames",
     {"main": "read>worker@train", "worker": "~nanosleep@work"})

# One process
hang("nested-limit", "asyncio", "h18_nested_limit.py", role("main"),
     "semaphore|acquire|limit|asyncio|epoll|task|gather|" + CIRCLE,
     "four shards have the four places of a semaphore that their parts wait for", {"main": "epoll_wait"})
hang("chunks", "pool", "h18_chunks.py", role("main"), FUTEX + "pool|imap|acquire|room|generator|next|" + CIRCLE,
     "a generator waits for results of the chunk of a pool that it has to fill", {"main": "futex@train"})
hang("seqlock", "sleep loop", "h18_seqlock.cpp", role("loader"),
     LOOP + "shared|odd|slot|sample|" + CIRCLE + "|" + NEVER,
     "a loader left a slot half written, the trainer waits for it, the loader until the trainer has read",
     {"main": "~nanosleep", "loader": "~nanosleep"}, also=[cycle("main", "loader"), role("main"), ranks(0)])
hang("exit-worker", "futex", "h18_exit_worker.cpp", role("main"), FUTEX + "exit|destruct|static|pool|itself|" + CIRCLE,
     "a task calls exit(), which waits in a destructor for the end of the task", {"main": "futex"})
hang("err-chan", "chan", "h18_err_chan.go", role("main"), "chan|send|WaitGroup|group|goroutine|" + CIRCLE + "|" + NEVER,
     "goroutines wait to send an error that nobody takes, main waits for their end", {"main": "*futex|epoll_wait"})
hang("rlock-twice", "rwlock", "h18_rlock_twice.go", role("main"), "lock|mutex|reader|writ|goroutine|" + CIRCLE,
     "main takes a reader's lock once more while a writer waits for it", {"main": "*futex|epoll_wait"})
hang("requeue", "futex", "h18_requeue.rs", role("main"), FUTEX + "chan|recv|mpsc|sender|park|itself|own|" + NEVER,
     "a thread waits for the end of a channel for which it has a sender itself", {"main": "futex"})
hang("phaser", "java", "h18_phaser.java", role("main"), FUTEX + "phaser|park|advance|arriv|" + NEVER + "|" + GONE,
     "a task has failed unseen and does not come to a Phaser any more", {"main": "*futex"}, needs=["java"])
hang("transform", "epoll", "h18_transform.js", role("main"),
     "epoll|event|await|promise|loop|idle|nothing|stream|" + NEVER,
     "a Transform has not called its callback for an empty line", {"main": "epoll_wait"}, needs=["node"])

# Scripts
hang("empty-glob", "pipe read", "h18_empty_glob.sh", role("wc"), PIPE + "wc|stdin|standard input|fifo|itself|" + NEVER,
     "wc was called without a file and reads the script's FIFO, which the script itself has open",
     {"main": "read>wc", "wc": "read"}, also=[cycle("main", "wc")])
hang("healthz", "http", "h18_healthz.sh", role("main"), LOOP + "health|404|http|ask|again|wait|child",
     "a script asks a server for a path that it does not know, until it is well",
     {"main": "~wait4", "server": "~poll"}, also=[outside("404|health")])

# Healthy ones
quiet("q-hooks", "futex", "h18_hooks.py slow", 64, "a gradient of rank 1 takes 48 s", "rank 0 waits for a bucket")
quiet("q-cache-seen", "tcp recv", "h18_cache_seen.py slow", 63, "rank 0 tokenizes for 48 s", "the others wait for that")
quiet("q-backoff", "sleep", "h18_backoff.py slow", 63, "rank 1 waits 45 s before it tries again", "rank 1 sleeps")
quiet("q-mpi-swap", "mpi", "3 h18_mpi_swap.py slow", 61, "rank 1 computes for 46 s", "the others wait for a swap",
      needs=["mpi4py", "mpiexec"])
quiet("q-count-barrier", "sleep loop", "h18_count_barrier.c slow", 65, "rank 1 works for 46 s",
      "the others wait at a barrier")
quiet("q-sem-reinit", "semaphore", "h18_sem_reinit.c slow", 66, "rank 1 loads for 48 s", "rank 0 waits for it")
quiet("q-router", "zmq", "h18_router.py slow", 62, "a worker works for 48 s", "the others wait by ZeroMQ",
      needs=["zmq"])
quiet("q-grpc-ready", "grpc", "h18_grpc_ready.py slow", 62, "an evaluation takes 48 s", "a call by gRPC",
      needs=["grpc"])
quiet("q-nested-limit", "asyncio", "h18_nested_limit.py slow", 64, "a part takes 48 s in a thread",
      "main waits in epoll")
quiet("q-err-chan", "go", "h18_err_chan.go slow", 58, "a goroutine works for 48 s", "main waits for three goroutines")
quiet("q-requeue", "futex", "h18_requeue.rs slow", 58, "a thread works for 48 s", "main waits at a channel")
quiet("q-phaser", "java", "h18_phaser.java slow", 62, "a task works for 48 s", "main waits at a Phaser", needs=["java"])
quiet("q-own-event", "mp event", "h18_own_event.py slow", 58, "an exporter works for 48 s",
      "the trainer waits for its end")
quiet("q-healthz", "http", "h18_healthz.sh slow", 60, "a server loads for 48 s", "a script asks it each second")

if __name__ == "__main__":
    BOOK.write("truth18.json")
