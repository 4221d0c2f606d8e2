"""What is true of each program of programs17; `cases17.py` as a program writes truth17.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book

BOOK = Book("h17-", "programs17")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
NOBODY = {"nobody": NEVER}
SUM = "recv|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|mean|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"
PIPE = "read|write|pipe|fifo|recv|send|full|open|"

# Ranks that do not do the same
hang("signal-one", "unix recv", "h17_signal_one.py", ranks(0), SUM + ELSEWHERE + "signal|save|checkpoint|" + CIRCLE,
     "only rank 0 got the signal and gathers a checkpoint, the others are in the step's sum",
     {"launcher": "wait4>rank0", "rank0": "recv>rank1@save", "rank1": "recv>rank0@train", "rank2": "recv>rank0@train"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2"), ranks(1, 2)])
hang("time-budget", "tcp recv", "h17_time_budget.py", ranks(2), SUM + ELSEWHERE + "evaluation|budget|clock|" + CIRCLE,
     "rank 2's time is up before that of the others, it is in the final evaluation",
     {"rank0": "recv>rank1@mean", "rank1": "recv>rank2@mean", "rank2": "recv>rank1@final_evaluation"},
     also=[cycle("rank1", "rank2"), cycle("rank0", "rank1", "rank2"), ranks(0, 1)])
hang("map-stop", "unix recv", "h17_map_stop.py", ranks(1), SUM + ELSEWHERE + "epoch|end|StopIteration|" + CIRCLE,
     "rank 1's map() ended early by a StopIteration, it is at the end of the epoch",
     {"rank0": "recv>rank1@train_step", "rank1": "recv>rank0@body", "rank2": "recv>rank0@train_step"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2"), ranks(0, 2)])
hang("late-pending", "futex", "h17_late_pending.py", ranks(1), FUTEX + ELSEWHERE + SUM + "Event|answer|number|" + NEVER,
     "rank 1's thread dropped the answer for which its main thread waits, rank 0 is in the next sum",
     {"rank0": "futex@mean", "rank1": "futex@mean", "coordinator": "accept"})
hang("pruned", "sleep loop", "h17_pruned.py", ranks(2), LOOP + SUM + ELSEWHERE + "ckpt|checkpoint|" + NEVER,
     "rank 2 looks for a checkpoint that rank 0 has removed again",
     {"rank0": "recv>rank1@mean", "rank1": "recv>rank2@mean", "rank2": "~nanosleep@evaluate"},
     also=[outside("ckpt-100"), ranks(0)])
hang("regroup", "accept",
     "h17_regroup.py", ranks(1), LOOP + "accept|connect|refused|dial|port|join|" + ELSEWHERE + NEVER,
     "rank 1 dials the port of the generation before, rank 0 waits for it in accept()",
     {"rank0": "accept@form_group", "rank1": "~nanosleep@dial_again", "rank2": "recv>rank0@form_group"})
hang("bucket", "sleep loop", "h17_bucket.py", ranks(1), LOOP + SUM + ELSEWHERE + "token|limit|acquire",
     "rank 1 waits for more tokens than its limiter keeps, rank 0 for its sum",
     {"rank0": "recv>rank1@mean", "rank1": "~nanosleep@acquire"})
hang("kept", "sleep", "h17_kept.sh", ranks(1), "sleep|fail|error|exception|KeyError|wait4|child|" + GONE,
     "rank 1's program failed and its script sleeps, rank 0 waits at the coordinator",
     {"rank0": "recv>coordinator@mean", "rank1": "wait4>sleeper", "sleeper": "pause|nanosleep"}, loud=True,
     also=[role("sleeper")])

# Each waits for the other
hang("mpi-farm", "mpi", "3 h17_mpi_farm.py", cycle("rank0", "rank1"),
     "mpi|probe|recv|result|task|left out|decod|" + CIRCLE,
     "rank 1 left a task out without a result, rank 0 waits for that, rank 1 for its next task",
     {"rank0": "~nanosleep@farm", "rank1": "~nanosleep@work", "rank2": "~nanosleep@work"},
     needs=["mpi4py", "mpiexec"], also=[ranks(1), ranks(0), cycle("rank0", "rank1", "rank2")])
hang("ack-batch", "tcp recv", "h17_ack_batch.py", cycle("rank0", "rank1"), SUM + "ack|window|activation|" + CIRCLE,
     "rank 0 waits for an acknowledgement, rank 1 for more before it gives one",
     {"rank0": "recv>rank1@first_stage", "rank1": "recv>rank0@last_stage"}, also=[ranks(0), ranks(1)])
hang("drain-both", "epoll", "h17_drain_both.py", cycle("rank0", "rank1"),
     "drain|write|send|full|exchange|epoll|asyncio|" + CIRCLE,
     "both ranks write 48 MiB to each other, and neither reads",
     {"rank0": "epoll_wait", "rank1": "epoll_wait"})
hang("slots", "semaphore", "h17_slots.py", cycle("rank0", "rank1"), FUTEX + "acquire|slot|" + CIRCLE,
     "each rank has two of four slots and waits for its third",
     {"rank0": "futex@with_slots", "rank1": "futex@with_slots"})
hang("vote", "unix recv", "h17_vote.py", cycle("rank0", "rank2"), SUM + "vote|commit|decision|" + CIRCLE,
     "rank 2 voted no and waits for the decision, rank 0 for another vote of it",
     {"rank0": "recv>rank2@commit", "rank1": "recv>rank0@commit", "rank2": "recv>rank0@commit"},
     also=[ranks(0), ranks(2), cycle("rank0", "rank1", "rank2")])
hang("msgq-pid", "msgrcv", "h17_msgq_pid.c", ranks(1), "msgrcv|message|queue|type|answer|SysV|" + NEVER,
     "rank 1 waits for an answer to its pid, it came to that of its child",
     {"rank0": "read>rank1", "rank1": "msgrcv", "server": "msgrcv"})
hang("oneshot", "epoll", "h17_oneshot.c", ranks(0), "epoll|oneshot|event|unread|" + SUM + NEVER,
     "rank 0 has not armed a socket again whose message came in two parts",
     {"rank0": "epoll_wait", "rank1": "recv>rank0", "rank2": "recv>rank0"}, also=[cycle("rank0", "rank2")])

# Services
hang("keep-alive", "http", "h17_keep_alive.py", role("server"), SUM + "http|connection|accept|backlog|serve|" + CIRCLE,
     "a service reads from a connection that rank 0 keeps, rank 1's is not accepted",
     {"rank0": "recv>rank1@mean", "rank1": "recv@hard_samples", "server": "recv>rank0"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "server"), ranks(0)])
hang("rep-skip", "zmq", "h17_rep_skip.py", role("server"), "zmq|ZeroMQ|poll|recv|answer|sleep|retr|service|serv",
     "a service left a request out without an answer, and fails in each recv() since",
     {"rank0": "poll@body", "rank1": "poll@body", "server": "~nanosleep@serve"}, needs=["zmq"])
hang("extra-pull", "zmq", "h17_extra_pull.py", role("monitor"), "zmq|ZeroMQ|poll|recv|result|task|monitor|" + NEVER,
     "a monitor takes every third task, the trainer waits for their results",
     {"main": "poll@train", "worker0": "poll@work", "worker1": "poll@work", "monitor": "poll@count"}, needs=["zmq"],
     also=[role("main"), ranks(0)])
hang("grpc-upload", "grpc", "h17_grpc_upload.py", role("main"), FUTEX + "grpc|result|stream|queue|answer|" + CIRCLE,
     "a trainer waits for the answer to a stream that it has not ended",
     {"main": "~futex@train"}, needs=["grpc"], also=[ranks(0), cycle("main", "server")])
hang("compacted", "sleep loop", "h17_compacted.py", role("evaluator"), LOOP + "progress|eval|" + CIRCLE + "|" + NEVER,
     "an evaluator reads behind the end of a file that was made shorter",
     {"main": "~nanosleep@await_evaluation", "evaluator": "~nanosleep@evaluate"},
     also=[cycle("main", "evaluator"), outside(r"progress\.jsonl|eval-50")])
hang("pool-init", "pool", "h17_pool_init.py", role("main"), FUTEX + "pool|worker|initializ|start|vocab|restart|" + GONE,
     "each worker of a pool fails in its initializer and is started anew",
     {"main": "futex@evaluate"}, also=[outside("initializ|open_vocabulary")])

# One process, and scripts
hang("ring-full", "sleep loop", "h17_ring_full.cpp", cycle("main", "loader"), LOOP + "ring|shared|empty|full|" + CIRCLE,
     "a full ring looks empty to the trainer, the loader waits until it is read",
     {"main": "~nanosleep", "loader": "~nanosleep"}, also=[role("loader"), role("main"), ranks(0)])
hang("upgrade", "rwlock", "h17_upgrade.cpp", role("main"), FUTEX + "reader|rwlock|writ|" + CIRCLE,
     "two threads that read under a lock both want to write", {"main": "futex"})
hang("nil-chan", "select", "h17_nil_chan.go", role("main"), "chan|select|nil|goroutine|" + NEVER,
     "main waits in a select of two nil channels", {"main": "*futex|epoll_wait"})
hang("once", "sync.Once", "h17_once.go", role("main"), "once|Do|lock|mutex|goroutine|itself|" + CIRCLE,
     "what sync.Once does asks for what it does", {"main": "*futex|epoll_wait"})
hang("scope", "futex", "h17_scope.rs", role("main"), FUTEX + "scope|chan|recv|mpsc|sender|park|" + NEVER,
     "a scope's thread waits for a sender that lives on after the scope", {"main": "futex"})
hang("exchanger", "java",
     "h17_exchanger.java", role("main"), FUTEX + "exchang|park|partner|loader|" + NEVER + "|" + GONE,
     "a trainer waits to exchange a buffer with a loader that has ended", {"main": "*futex"}, needs=["java"])
hang("drain", "epoll", "h17_drain.js", role("main"), "epoll|event|drain|await|promise|loop|idle|nothing|" + NEVER,
     "a trainer waits for 'drain' of a stream that was not full", {"main": "epoll_wait"}, needs=["node"])
hang("token-fifo", "pipe read", "h17_token_fifo.sh", role("main"), PIPE + "token|itself|own|" + NEVER,
     "a script waits for a token that no job that failed has put back", {"main": "read"}, also=[NOBODY, ranks(0)])
hang("tail-grep", "pipe", "h17_tail_grep.sh", role("tail"), PIPE + "tail|inotify|follow|log|child|wait|" + GONE,
     "tail waits for more of a log whose writer has ended, grep has left long ago",
     {"main": "wait4", "trainer": "gone", "tail": "~poll|read|pselect6|select|nanosleep", "sed": "read>tail"},
     also=[role("sed"), outside(r"train\.log")])

# Healthy ones
quiet("q-late-pending", "futex", "h17_late_pending.py slow", 62, "rank 0 merges for 48 s", "rank 1 waits in a sum")
quiet("q-pruned", "sleep loop", "h17_pruned.py slow", 66, "rank 0 writes for 48 s", "rank 2 looks for a checkpoint")
quiet("q-regroup", "accept", "h17_regroup.py slow", 64, "rank 1 loads for 48 s", "rank 0 waits for it in accept()")
quiet("q-bucket", "sleep loop", "h17_bucket.py slow", 62, "tokens come by one a second", "rank 1 waits for tokens")
quiet("q-mpi-farm", "mpi", "3 h17_mpi_farm.py slow", 62, "rank 1 decodes for 46 s", "rank 0 waits for a result",
      needs=["mpi4py", "mpiexec"])
quiet("q-slots", "semaphore", "h17_slots.py slow", 62, "rank 0 works for 48 s with slots", "rank 1 waits for a slot")
quiet("q-keep-alive", "http", "h17_keep_alive.py slow", 64, "a service works for 48 s", "rank 1 waits for its answer")
quiet("q-rep-skip", "zmq", "h17_rep_skip.py slow", 63, "a service works for 48 s",
      "both ranks wait for it", needs=["zmq"])
quiet("q-grpc-upload", "grpc", "h17_grpc_upload.py slow", 60, "a summary takes 48 s", "a call by gRPC", needs=["grpc"])
quiet("q-compacted", "sleep loop", "h17_compacted.py slow", 64, "an evaluator works for 48 s",
      "the trainer looks for a file")
quiet("q-ring-full", "sleep loop", "h17_ring_full.cpp slow", 62, "a loader works for 48 s",
      "its trainer looks at a ring")
quiet("q-nil-chan", "go", "h17_nil_chan.go slow", 57, "a goroutine works for 48 s", "main waits in a select")
quiet("q-scope", "futex", "h17_scope.rs slow", 58, "a thread works for 52 s", "main waits at the end of a scope")
quiet("q-exchanger", "java", "h17_exchanger.java slow", 62, "a thread works for 48 s",
      "main waits to exchange a buffer",
      needs=["java"])
quiet("q-drain", "epoll", "h17_drain.js slow", 61, "a thread works for 48 s", "main waits for its exit", needs=["node"])
quiet("q-token-fifo", "pipe read", "h17_token_fifo.sh slow", 59, "three jobs work for 48 s",
      "a script waits for a token")

if __name__ == "__main__":
    BOOK.write("truth17.json")
