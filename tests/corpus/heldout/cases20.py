"""What is true of each program of programs20; `cases20.py` as a program writes truth20.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book

BOOK = Book("h20-", "programs20")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|mean|select|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
SPIN = "spin|busy|loop|cpu|processor|comput|running|works|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"

# Ranks
hang("split", "tcp recv", "h20_split.py", ranks(1), SUM + ELSEWHERE + "halves|" + CIRCLE,
     "rank 1 takes a batch in two halves and sums twice, the others once",
     {"rank0": "select@train_step", "rank1": "recv>rank0@in_halves", "rank2": "recv>rank0@train_step"},
     also=[cycle("rank0", "rank1")])
hang("state", "tcp recv", "h20_state.py", ranks(0), SUM + ELSEWHERE + "state|save|gather|" + CIRCLE,
     "rank 0 alone gathers the parts of the weights, the others are in a sum",
     {"rank0": "recv>rank1@full_state", "rank1": "recv>rank0@mean", "rank2": "recv>rank0@mean"},
     also=[cycle("rank0", "rank1")])
hang("max-time", "unix recv", "h20_max_time.py", ranks(0), SUM + "read|pipe|finish|end|" + ELSEWHERE + CIRCLE,
     "rank 0's time is over before that of the others; it waits at the end, they in a sum",
     {"rank0": "read>rank1@finish", "rank1": "read>rank0@train_step", "rank2": "read>rank0@train_step"},
     also=[cycle("rank0", "rank1")])
hang("main-first", "tcp recv", "h20_main_first.py", ranks(0), SUM + ELSEWHERE + "main_first|word|tokens|" + CIRCLE,
     "rank 0 has left by an error the part for whose end the others wait",
     {"rank0": "recv>rank1@mean", "rank1": "recv>rank0@main_first", "rank2": "recv>rank0@main_first"},
     also=[cycle("rank0", "rank1")])
hang("uncommitted", "sleep loop", "h20_uncommitted.py", cycle("rank0", "rank1"),
     LOOP + "sqlite|database|transaction|lock|note|" + SUM + CIRCLE,
     "rank 0 has a transaction open, for whose end rank 1 waits, and waits for rank 1",
     {"rank0": "recv>rank1@sum", "rank1": "~nanosleep@note"}, also=[ranks(0)])
hang("in-turn", "pipe write", "h20_in_turn.py", role("launcher"),
     "pipe|write|read|full|output|stdout|launcher|" + CIRCLE,
     "a launcher reads what rank 0 prints to its end first; rank 1 writes into a full pipe",
     {"launcher": "read>rank0", "rank0": "select@train_step", "rank1": "write>launcher@train_step"},
     also=[cycle("launcher", "rank0", "rank1"), cycle("launcher", "rank1")])
hang("short-body", "http", "h20_short_body.py", cycle("rank0", "mirror"),
     SUM + "http|lock|flock|fetch|body|bytes|mirror|read|" + CIRCLE,
     "a mirror announces more than it sends; rank 0 waits for the rest, and has the lock that rank 1 wants",
     {"rank0": "recv>mirror@fetch", "rank1": "flock>rank0@fetch", "mirror": "*recv>rank0@handle"},
     also=[role("mirror"), ranks(0)])
hang("keepalive", "http", "h20_keepalive.py", cycle("server", "rank0", "rank1"),
     SUM + "http|accept|serv|request|connection|settings|" + CIRCLE,
     "a server without threads waits for rank 0's next request, rank 1 for its turn, rank 0 for rank 1",
     {"server": "recv>rank0@handle", "rank0": "recv>rank1@sum", "rank1": "recv@settings"},
     also=[role("server"), ranks(0), cycle("server", "rank0"), cycle("server", "rank1")])
hang("regex", "spin", "h20_regex.py", ranks(1), SPIN + "regex|re\\b|match|clean|" + ELSEWHERE + SUM,
     "a pattern tries all ways to part a line of rank 1", {"rank0": "recv>rank1@mean", "rank1": "spin",
     "rank2": "recv>rank1@mean"})
hang("marker", "sleep loop", "h20_marker.py", ranks(2), LOOP + "meet|done|marker|" + ELSEWHERE + SUM + NEVER,
     "rank 2 looks for files that rank 0 has taken away already",
     {"rank0": "recv>rank1@sum", "rank1": "recv>rank2@sum", "rank2": "~nanosleep@meet"},
     also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2"), ranks(0)])
hang("folder", "sleep loop", "h20_folder.py", ranks(1), LOOP + "restore|folder|" + ELSEWHERE + SUM + NEVER,
     "rank 1 waits for a file in a folder of a name of its own", {"rank0": "read>rank1@mean",
     "rank1": "~nanosleep@restore"}, also=[cycle("rank0", "rank1")])
hang("micro", "unix recv", "h20_micro.py", cycle("rank0", "rank1"), SUM + ELSEWHERE + "stage|forward|micro|" + CIRCLE,
     "stage 0 has sent three micro-batches, stage 1 waits for a fourth",
     {"rank0": "recv>rank1@first_stage", "rank1": "recv>rank0@forward", "rank2": "recv>rank1@forward"},
     also=[ranks(0), ranks(1)])
hang("mpi-stop", "mpi", "3 h20_mpi_stop.py", cycle("rank0", "rank2"),
     "mpi|recv|barrier|work|" + ELSEWHERE + CIRCLE,
     "rank 2 was not told to stop and waits for a task, the others in a barrier",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin"}, needs=["mpi4py", "mpiexec"], also=[ranks(2), ranks(0)])
hang("burst", "sleep loop", "h20_burst.py", ranks(1), LOOP + "take|bucket|limit|token|" + ELSEWHERE + SUM + NEVER,
     "rank 1 waits for more tokens than a bucket holds",
     {"rank0": "recv>rank1@mean", "rank1": "~nanosleep@take", "rank2": "recv>rank1@mean"})
hang("ring-full", "sleep loop", "2* h20_ring_full.c", cycle("rank0", "rank1"),
     LOOP + "ring|shared|full|empty|put|take|batch|" + CIRCLE + "|" + NEVER,
     "rank 0 takes a full ring for an empty one, rank 1 waits for a free place",
     {"rank0": "~nanosleep", "rank1": "~nanosleep"}, also=[ranks(0)])
hang("missing-rank", "accept", "h20_missing_rank.sh", outside(r"rank 2\b|1 of (the )?3|2 of (the )?3|[Ww]orld.?[Ss]ize"),
     "accept|connect|join|rendezvous|missing|start|world|rank 2|" + NEVER,
     "two of three ranks were started", {"rank0": "accept@rendezvous", "rank1": "recv>rank0@meet", "main": "wait4>rank0"},
     also=[ranks(2), ranks(0)])
hang("batcher", "tcp recv", "h20_batcher.py", role("server"),
     SUM + "collect|batch|request|serv|" + ELSEWHERE + CIRCLE,
     "a service collects three requests, and one of the three has no more",
     {"rank0": "recv>server@ask", "rank1": "recv>server@ask", "rank2": "recv>rank0@finish", "server": "select@collect"},
     also=[ranks(2), cycle("server", "rank0", "rank2"), cycle("server", "rank2")])
hang("rollouts", "pipe read", "h20_rollouts.py", cycle("main", "actor0", "actor1"),
     "pipe|queue|read|recv|socket|collect|weights|games|" + CIRCLE + "|" + NEVER,
     "a learner waits for twelve games, its two actors for new weights behind four each",
     {"main": "read@collect", "actor0": "read>main@act", "actor1": "read>main@act"},
     also=[role("main"), ranks(0)])

# Services and helpers of a job
hang("half-close", "grpc", "h20_half_close.py", cycle("main", "server"),
     "grpc|futex|wait|result|report|epoll|poll|queue|get|end|" + CIRCLE + "|" + NEVER,
     "a service waits for the end of a stream, which its client does not end, and the client for its answer",
     {"main": "~futex@finish", "server": "*~futex@report"}, needs=["grpc"], also=[role("main"), ranks(0)])
hang("linger", "zmq", "h20_linger.py", role("main"),
     "zmq|zeromq|linger|term|poll|deliver|collector|" + NEVER + "|" + GONE,
     "the end of a context waits for messages to a collector that has ended", {"main": "poll@term"}, needs=["zmq"])
hang("early-return", "go", "h20_early_return.go", role("server"),
     FUTEX + "epoll|http|recv|socket|answer|serv|mutex|" + NEVER,
     "a service has kept its lock where it left early", {"main": "*~epoll", "server": "*~epoll|futex"})
hang("follow-log", "wait4", "h20_follow_log.sh", role("follower"),
     LOOP + "wait|child|pipe|follow|log|" + NEVER,
     "a follower of a log is waited for, whose reader has what it wants",
     {"main": "wait4>follower", "follower": "~nanosleep"}, also=[role("main"), ranks(0)])
hang("unread", "node", "h20_unread.js", role("main"),
     "pipe|write|read|full|socket|epoll|output|tool|exit|" + CIRCLE,
     "a tool writes what nobody reads, and its end is waited for", {"main": "~epoll", "tool": "write"},
     also=[cycle("main", "tool"), ranks(0)])

# Within a program
hang("loop-result", "asyncio", "h20_loop_result.py", role("main"),
     FUTEX + "asyncio|loop|result|future|upload|itself|own|" + CIRCLE,
     "a callback in a loop waits for a coroutine of that loop", {"main": "futex@on_score"})
hang("loop-event", "asyncio", "h20_loop_event.py", role("main"),
     FUTEX + "asyncio|epoll|loop|event|batch|reader|queue|" + NEVER,
     "a thread sets an event of a loop without waking it", {"main": "epoll@run_forever|select"})
hang("pool-init", "futex", "h20_pool_init.py", role("main"),
     FUTEX + "pool|map|worker|result|" + NEVER + "|" + GONE,
     "the workers of a pool end when they begin, again and again", {"main": "futex@map"})
hang("async-drop", "futex", "h20_async_drop.cpp", role("main"), FUTEX + "async|future|watch|destructor|evaluate|" + CIRCLE,
     "main waits in a destructor for a watch that it would end later", {"main": "futex"})
hang("guard", "futex", "h20_guard.rs", role("main"), FUTEX + "own|itself|again|already|" + CIRCLE,
     "main takes a lock that it has for an `if let`", {"main": "futex"})
hang("wait-first", "go", "h20_wait_first.go", role("main"),
     FUTEX + "channel|chan|send|WaitGroup|group|goroutine|" + CIRCLE + "|" + NEVER,
     "main waits for goroutines before it reads what they send", {"main": "*~futex|epoll"})
hang("two-each", "java", "h20_two_each.java", role("main"),
     FUTEX + "queue|take|pool|park|connection|" + CIRCLE + "|" + NEVER,
     "two threads have one connection each, and want a second one of two", {"main": "*futex"}, needs=["java"])

# Healthy ones
quiet("q-split", "tcp recv", "h20_split.py slow", 62, "rank 1 takes 48 s for a batch", "the others wait in a sum")
quiet("q-state", "tcp recv", "h20_state.py slow", 62, "rank 0 writes for 48 s", "the others wait in a sum")
quiet("q-main-first", "tcp recv", "h20_main_first.py slow", 62, "rank 0 tokenizes for 48 s", "the others wait for it")
quiet("q-uncommitted", "sleep loop", "h20_uncommitted.py slow", 62, "rank 0 evaluates for 48 s",
     "rank 1 waits for a database or a sum")
quiet("q-short-body", "http", "h20_short_body.py slow", 64, "a shard comes after 48 s",
     "rank 0 waits for a mirror, rank 1 for a lock")
quiet("q-marker", "sleep loop", "h20_marker.py slow", 66, "rank 2 comes 48 s late", "the others look for its file")
quiet("q-micro", "unix recv", "h20_micro.py slow", 62, "stage 1 works for 48 s", "the others wait for it")
quiet("q-mpi-stop", "mpi", "3 h20_mpi_stop.py slow", 66, "rank 2 has a task of 48 s", "the others wait by MPI",
     needs=["mpi4py", "mpiexec"])
quiet("q-ring-full", "sleep loop", "2* h20_ring_full.c slow", 60, "rank 1 makes a batch for 48 s",
     "rank 0 looks at a count")
quiet("q-half-close", "grpc", "h20_half_close.py slow", 58, "a report takes 48 s", "main waits for a service",
     needs=["grpc"])
quiet("q-loop-event", "asyncio", "h20_loop_event.py slow", 58, "a batch takes 48 s", "main waits for a thread")
quiet("q-two-each", "java", "h20_two_each.java slow", 62, "a label takes 48 s", "main waits for a thread",
     needs=["java"])

if __name__ == "__main__":
    BOOK.write("truth20.json")
