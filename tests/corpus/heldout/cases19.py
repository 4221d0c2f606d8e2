"""What is true of each program of programs19; `cases19.py` as a program writes truth19.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, ranks, role
from kitcases import Book

BOOK = Book("h19-", "programs19")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|mean|select|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
SPIN = "spin|busy|loop|cpu|processor|comput|running|works|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"

# Ranks
hang("usr1", "tcp recv", "h19_usr1.py", ranks(1), SUM + ELSEWHERE + "save|checkpoint|signal|SIGUSR1|" + CIRCLE,
     "rank 1 alone was warned by a signal, and waits in a barrier while the others are in a sum",
     {"rank0": "select@train_step", "rank1": "recv>rank0@save", "rank2": "recv>rank0@train_step"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2")])
hang("reload", "unix recv", "h19_reload.py", cycle("rank0", "rank1"),
     SUM + ELSEWHERE + "read|reload|settings|" + CIRCLE,
     "rank 0 waits for rank 1's word about new settings, rank 1 is in a sum and waits for rank 0",
     {"rank0": "read|recv>rank1@reload_settings", "rank1": "recv>rank0@mean"}, also=[ranks(0)])
hang("filtered", "spin", "h19_filtered.py", ranks(2), SPIN + ELSEWHERE + "load|data|batch|filter|fitting|" + SUM,
     "rank 2's loader goes round in a shard of which no sample is short enough",
     {"rank0": "recv>rank1@sum", "rank1": "recv>rank2@sum", "rank2": "spin"})
hang("sentinel", "spin", "h19_sentinel.py", ranks(1), SPIN + ELSEWHERE + "read|pipe|EOF|end of|tokens|" + SUM + GONE,
     "rank 1 reads nothing for ever from a pipe whose tool has ended", {"rank0": "select@mean", "rank1": "spin"})
hang("short-buffer", "tcp recv", "h19_short_buffer.py", ranks(2), SUM + ELSEWHERE + "bytes|rows|short|size|" + CIRCLE,
     "rank 2 has not added a row that the others have added; rank 0 waits for it",
     {"rank0": "recv>rank2@read_rows", "rank1": "recv>rank0@read_rows", "rank2": "recv>rank0@read_rows"},
     also=[cycle("rank0", "rank2"), ranks(0)])
hang("wrap", "sleep loop", "h19_wrap.py", cycle("rank0", "rank1"),
     LOOP + "meet|count|shared|barrier|" + CIRCLE + "|" + NEVER,
     "counts of one byte have become 0, and both ranks wait for 256", {"rank0": "~nanosleep", "rank1": "~nanosleep"},
     also=[ranks(0), ranks(1)])
hang("new-queue", "futex", "h19_new_queue.py", ranks(1), FUTEX + "queue|batch|load|" + ELSEWHERE + NEVER + "|" + SUM,
     "rank 1 asks in a new queue, its loader waits at the old one",
     {"rank0": "select@mean", "rank1": "futex@next_batch"})
hang("quota", "sleep loop", "h19_quota.py", ranks(0),
     LOOP + ELSEWHERE + "room|space|quota|folder|save|checkpoint|" + SUM,
     "rank 0 waits for room in a folder that only it would clean up, later",
     {"rank0": "~nanosleep@wait_for_room", "rank1": "recv>rank0@sum", "rank2": "recv>rank1@sum"})
hang("mpi-any", "mpi", "3 h19_mpi_any.py", cycle("rank0", "rank1"),
     "mpi|send|recv|barrier|evaluate|" + ELSEWHERE + CIRCLE,
     "rank 0 has taken a warning for a result and is in a barrier, rank 1 is in a send to it",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin"}, needs=["mpi4py", "mpiexec"],
     also=[ranks(0), ranks(1), ranks(2), cycle("rank0", "rank1", "rank2")])
hang("zmq-pair", "zmq", "h19_zmq_pair.py", cycle("rank0", "rank2"),
     "zmq|zeromq|pair|recv|poll|socket|end_of_stage|" + CIRCLE + "|" + NEVER,
     "rank 2 speaks to a PAIR that has its other end already, rank 0 waits for its words",
     {"rank0": "poll@end_of_stage", "rank1": "poll@end_of_stage", "rank2": "poll@end_of_stage"}, needs=["zmq"],
     also=[ranks(2), ranks(0), cycle("rank0", "rank1", "rank2")])
hang("cond-private", "futex", "2* h19_cond_private.c", cycle("rank0", "rank1"),
     FUTEX + "shared|signal|" + CIRCLE + "|" + NEVER,
     "both ranks wait at conditions in shared memory that were made for one process",
     {"rank0": "futex", "rank1": "futex"}, also=[ranks(0), ranks(1)])
hang("hoisted", "spin", "2* h19_hoisted.cpp", ranks(1), SPIN + ELSEWHERE + "load|flag|" + SUM,
     "rank 1 looks for ever at a bool that it has read once", {"rank0": "recv>rank1", "rank1": "spin"})
hang("bufio", "go", "2* h19_bufio.go", cycle("rank0", "rank1"),
     "epoll|futex|go|net|" + SUM + ELSEWHERE + "read|" + CIRCLE,
     "rank 1 has dropped a line together with a reader; each waits for the other one",
     {"rank0": "*~epoll", "rank1": "*~epoll"}, also=[ranks(1), ranks(0)])
hang("endian", "tcp recv", "2* h19_endian.rs", cycle("rank0", "rank1"), SUM + "read|length|" + CIRCLE,
     "rank 0 takes a length for a much larger one, and waits for the rest of rank 1's message",
     {"rank0": "recv>rank1", "rank1": "recv>rank0"}, also=[ranks(1), ranks(0)])

# Services and helpers of a job
hang("grpc-yield", "grpc", "h19_grpc_yield.py", cycle("main", "server"),
     "grpc|lock|futex|wait|report|epoch|epoll|poll|" + CIRCLE,
     "a service holds a lock while it yields, and the reader waits for a call that takes it",
     {"main": "~futex|epoll@train", "server": "*~futex@report"}, needs=["grpc"], also=[role("server"), role("main"),
     ranks(0)])
hang("idempotent", "http", "h19_idempotent.py", role("service"),
     "http|recv|tcp|answer|socket|futex|wait|post|Event|" + NEVER,
     "a service waits for the end of a request that has failed", {"main": "recv>service@post", "service": "*futex"})
hang("mtime", "sleep loop", "h19_mtime.py", cycle("main", "evaluator"),
     LOOP + "score|weights|newer|" + CIRCLE + "|" + NEVER,
     "an evaluator does not see a file that is newer within the same second",
     {"main": "~nanosleep@score", "evaluator": "~nanosleep@evaluate"}, also=[role("evaluator"), role("main"), ranks(0)])
hang("run-timeout", "pipe read", "h19_run_timeout.py", role("tool"),
     "pipe|read|tool|child|recv|udp|open|communicate|" + NEVER,
     "a shell was killed after its time; the tool that it has started keeps the pipe open and waits for a datagram",
     {"main": "read|poll@communicate", "tool": "recv@tool"}, also=[role("main"), ranks(0)])
hang("ignored-term", "wait4", "h19_ignored_term.sh", role("server"),
     "wait|child|signal|SIGTERM|ignor|accept|server|serv",
     "a server has inherited that SIGTERM is ignored", {"main": "wait4>server", "server": "accept"},
     also=[role("main"), ranks(0)])

# Within a program
hang("cached-property", "futex", "h19_cached_property.py", role("main"),
     FUTEX + "cached_property|index|result|" + CIRCLE,
     "a cached_property is computed in threads that need the same property's lock", {"main": "futex@index"},
     needs=["asynchat"])
hang("swallow-cancel", "asyncio", "h19_swallow_cancel.py", role("main"),
     "asyncio|epoll|gather|cancel|queue|put|task|" + NEVER,
     "tasks take their cancellation for an error and go on", {"main": "epoll"})
hang("with-exit", "futex", "h19_with_exit.py", role("main"), FUTEX + "shutdown|beat|pool|executor|" + NEVER,
     "the end of a `with` waits for a heartbeat that is stopped behind it", {"main": "futex@shutdown"})
hang("pool-exited", "futex", "h19_pool_exited.py", role("main"), FUTEX + "pool|get|worker|result|" + NEVER + "|" + GONE,
     "a pool was ended before its results were taken", {"main": "futex@get"})
hang("cancelled", "futex", "h19_cancelled.py", role("main"),
     FUTEX + "as_completed|cancel|future|pool|" + NEVER + "|" + GONE,
     "cancelled futures of a pool that was shut down are never told", {"main": "futex@as_completed"})
hang("atomics", "node", "h19_atomics.js", role("main"), FUTEX + "Atomics|worker|itself|own|" + CIRCLE + "|" + NEVER,
     "main stands in Atomics.wait for a worker whose output goes through main", {"main": "futex"})
hang("wg-copy", "go", "h19_wg_copy.go", role("main"), FUTEX + "WaitGroup|group|goroutine|" + NEVER,
     "goroutines say Done to copies of a WaitGroup", {"main": "*~futex|epoll"})
hang("scheduled", "java", "h19_scheduled.java", role("main"), FUTEX + "queue|take|schedul|park|" + NEVER + "|" + GONE,
     "a scheduled task has thrown and is not called any more", {"main": "*futex"}, needs=["java"])
hang("arc-count", "sleep loop", "h19_arc_count.rs", role("main"), LOOP + "count|Arc|quantize|itself|own|" + NEVER,
     "main waits until a count of owners falls, of whom it is one", {"main": "~nanosleep"})
hang("subshell", "sleep loop", "h19_subshell.sh", role("main"), LOOP + "wait|child|count|done|" + NEVER,
     "a script counts down in a shell behind a pipe", {"main": "~wait4"})

# Healthy ones
quiet("q-usr1", "tcp recv", "h19_usr1.py slow", 62, "rank 1 saves for 48 s", "the others wait in a sum")
quiet("q-filtered", "spin", "h19_filtered.py slow", 62, "rank 2 looks for short samples for 48 s",
     "the others wait for it")
quiet("q-short-buffer", "tcp recv", "h19_short_buffer.py slow", 62, "rank 2 works for 48 s",
     "rank 0 waits for its rows")
quiet("q-wrap", "sleep loop", "h19_wrap.py slow", 62, "rank 1 works for 48 s", "rank 0 looks at a count")
quiet("q-mpi-any", "mpi", "3 h19_mpi_any.py slow", 66, "rank 1 evaluates for 48 s", "the others wait by MPI",
      needs=["mpi4py", "mpiexec"])
quiet("q-zmq-pair", "zmq", "h19_zmq_pair.py slow", 64, "rank 2 evaluates for 48 s", "rank 0 waits by ZeroMQ",
     needs=["zmq"])
quiet("q-hoisted", "spin", "2* h19_hoisted.cpp slow", 62, "a load takes 48 s", "rank 1 looks at an atomic bool")
quiet("q-with-exit", "futex", "h19_with_exit.py slow", 58, "an upload takes 48 s", "main waits for a pool")
quiet("q-mtime", "sleep loop", "h19_mtime.py slow", 64, "an evaluator works for 48 s", "the trainer waits for its file")
quiet("q-bufio", "go", "2* h19_bufio.go slow", 62, "rank 0 works for 48 s", "rank 1 waits for a line")
quiet("q-scheduled", "java", "h19_scheduled.java slow", 62, "a save takes 48 s", "main waits for a queue",
     needs=["java"])
quiet("q-subshell", "sleep loop", "h19_subshell.sh slow", 58, "a fold takes 48 s more",
     "a script counts those that are done")

if __name__ == "__main__":
    BOOK.write("truth19.json")
