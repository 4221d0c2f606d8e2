"""What is true of each program of programs13; `cases13.py` as a program writes truth13.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book, all_of

BOOK = Book("h13-", "programs13")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
NOBODY = {"nobody": NEVER}
ADDRESS = outside(r"127\.0\.0\.1:\d+|localhost:\d+")
TCP = "recv|read|tcp|socket|connection|peer|answer|repl|message|gradient|sum|reduc|collective|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|"
POLL = "poll|sleep|loop|retr|look|file|exist|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"
GLOO = "all.?reduce|gather|barrier|send|recv|gloo|collective|futex|cond|epoll|tcp|"
RAY = "ray|raylet|gcs|actor|task|object|result|schedul|"
CHILD = "wait4|child|subprocess|pipe|full|write|output|not read|nobody reads|"


def everyone(n):
    return cycle(*["rank%d" % r for r in range(n)])


# Ranks of which one does something else than the others want
hang("uneven", "tcp recv", "4* h13_uneven.go", ranks(2), TCP + ELSEWHERE + CIRCLE,
     "rank 2 has fewer batches and wants the final weights, rank 0 its next gradient",
     {"rank0": "*epoll|futex", "rank1": "*epoll|futex", "rank2": "*epoll|futex", "rank3": "*epoll|futex"},
     also=[cycle("rank0", "rank2"), everyone(4)])
hang("mpi-open", "mpi", "2 h13_mpi_open.py", ranks(0),
     "sendrecv|exchange|collective|open|file|mpi|spin|" + ELSEWHERE + CIRCLE,
     "rank 0 alone opens a file for all of the world, rank 1 is in the next exchange",
     {"rank0": "spin", "rank1": "spin"}, also=[ranks(1), cycle("rank0", "rank1")], needs=["mpi4py", "numpy",
     "mpiexec"])
hang("resume", "unix recv", "h13_resume.py", ranks(4), TCP + POLL + ELSEWHERE + "done|unix|" + CIRCLE,
     "rank 4 has resumed at an earlier step and wants sums of the others, who look for its file after their"
     " last step",
     {**all_of(6, "~nanosleep|select", 4), "rank4": "recv>rank3@sum"},
     also=[cycle("rank3", "rank4"), everyone(6), ranks(0, 1, 2, 3, 5), outside(r"done\.4")])
hang("uncaught", "node", "h13_uncaught.js", ranks(2),
     TCP + "epoll|poll|idle|error|exception|uncaught|threw|" + ELSEWHERE + NEVER,
     "trainer 2 has thrown in its handler and goes on without a gradient, the launcher waits for it",
     {"launcher": "epoll", **all_of(4, "~epoll")}, also=[role("launcher")])
hang("finish", "unix recv", "h13_finish.py", cycle("rank0", "service", "rank1"),
     TCP + "finish|sync|poll|unix|" + ELSEWHERE + CIRCLE,
     "rank 0 waits for the service to end the run, the service for rank 1 to finish, rank 1 for rank 0's sum",
     {"rank0": "recv>service@finish", "rank1": "recv>rank0@reduce", "service": "epoll"},
     also=[role("service"), ranks(0), ranks(1), cycle("rank0", "rank1"), cycle("rank0", "service")])
hang("study", "sqlite", "h13_study.py", ranks(0), TCP + "sqlite|lock|transaction|study|busy|" + POLL + CIRCLE,
     "rank 0 has a transaction open and waits for rank 1's score, rank 1 waits for the file",
     {"rank0": "recv>rank1@reduce", "rank1": "~nanosleep@body"}, also=[cycle("rank0", "rank1"), ranks(1)])
hang("pause", "aio", "h13_pause.py", cycle("controller", "rank1"),
     TCP + "epoll|websocket|paus|resum|idle|event|" + ELSEWHERE + CIRCLE,
     "the controller waits for trainer 1 to tell that it pauses, which it has told by an earlier connection; it"
     " waits to be resumed",
     {"controller": "epoll", **all_of(3, "epoll")}, also=[role("controller"), ranks(1), cycle("controller", "rank0",
     "rank1", "rank2")],
     needs=["aiohttp"])
hang("head", "sleep loop", "h13_head.sh", ranks(0), POLL + "head|addr|child|wait4|" + GONE + "|" + NEVER,
     "task 0 has left before it told the head's address, the others look for the file",
     {"launcher": "wait4", "rank0": "gone", **all_of(8, "~wait4", 0)}, gone=True, also=[NOBODY,
     outside(r"head\.addr")])

# Helpers of a job: loaders, pools, tools, threads
hang("map", "pool", "h13_map.sh", ranks(0), FUTEX + "pool|queue|result|task|chunk|worker|child|" + GONE + "|" + NEVER,
     "a process of rank 0's pool was killed, and its chunk is never done; rank 1 waits for rank 0",
     {"rank0": "futex@next", "rank1": "recv>rank0@reduce", "tokenizer4": "*futex|read"},
     also=[NOBODY, outside(r"tokenizer|pool|worker")])
hang("grpc", "grpc", "h13_grpc.py", role("main"),
     FUTEX + "grpc|callback|itself|own|future|result|" + CIRCLE + "|" + NEVER,
     "a callback waits for a future which only the thread that runs it could end, main waits for the callback",
     {"main": "futex@result", "store": "futex"}, also=[NOBODY, ranks(0), cycle("main", "main")], needs=["grpc"])
hang("convert", "pipe full", "h13_convert.java", cycle("main", "tool"), FUTEX + CHILD + CIRCLE,
     "a tool writes to a pipe that its parent does not read, the parent waits for its end",
     {"main": "futex", "tool": "write>main"}, also=[role("main"), role("tool"), ranks(0)], needs=["java", "perl"])
hang("shards", "queue", "h13_shards.java", role("main"), FUTEX + "queue|park|idle|" + GONE + "|" + NEVER,
     "a scheduled task has thrown and is not run again, main waits for its queue", {"main": "futex"}, also=[NOBODY],
     needs=["java"])
hang("expect", "tcp recv", "h13_expect.py", cycle("main", "service"),
     TCP + FUTEX + "http|continue|epoll|body|" + CIRCLE,
     "the trainer waits to be told to go on with its body, the service for the body",
     {"main": "futex", "service": "recv@serve"}, also=[role("service"), role("main"), ranks(0), ADDRESS],
     needs=["java"])
hang("waitgroup", "go", "h13_waitgroup.go", role("main"), FUTEX + "goroutine|group|semacquire|idle|epoll|" + NEVER,
     "a goroutine has left without telling the group for which main waits", {"main": "*epoll|futex"}, also=[NOBODY])
hang("folds", "futex", "h13_folds.cpp", role("main"), FUTEX + "future|pool|task|" + CIRCLE + "|" + NEVER,
     "both threads of a pool wait for tasks of the same pool", {"main": "futex"}, also=[NOBODY, cycle("main",
     "main")], proved=True)
hang("join-first", "futex", "h13_join_first.rs", role("main"), FUTEX + "join|channel|send|full|" + CIRCLE,
     "main joins a thread that waits for room in a channel, which main would read", {"main": "futex"},
     also=[cycle("main", "main")], proved=True)
hang("entrypoint", "wait4", "h13_entrypoint.sh", role("service"),
     "wait4|child|signal|SIGINT|ignor|poll|serv|idle|accept",
     "the script waits for a service to which it has sent SIGINT, which that ignores", {"main": "wait4>service",
     "service": "poll@serve_forever"},
     also=[role("main")])
hang("zmq-tasks", "zmq", "h13_zmq_tasks.py", role("worker1"), "zmq|zeromq|poll|recv|pull|" + GONE + "|" + NEVER,
     "a worker was killed, its share of tasks lies in the socket", {"main": "poll@main", "worker0": "poll@worker",
     "worker1": "gone"},
     gone=True, also=[role("main"), NOBODY], needs=["zmq"])

# What a rank waits for is outside of the ranks
hang("tracker", "tcp connect", "h13_tracker.py", role("tracker"), TCP + "stopp|SIGSTOP|paus|connect|backlog|accept",
     "the tracker is stopped, rank 0 cannot connect to it", {"rank0": "connect@tell", "rank1": "recv>rank0",
     "rank2": "recv>rank0", "tracker": "stopped"},
     also=[ADDRESS, ranks(0)])
hang("shipper", "pipe full", "h13_shipper.sh", role("collector"), TCP + "pipe|full|write|http|event|futex|" + NEVER,
     "the collector waits for an event that nobody sets, the shipper for its answer, rank 0 for room in the"
     " pipe to the shipper",
     {"rank0": "write>shipper@train", "rank1": "recv>rank0@reduce", "shipper": "recv>collector@ship",
     "collector": "*futex@do_POST"},
     also=[role("shipper"), ADDRESS])
hang("old-job", "flock", "h13_old_job.sh", role("loader"), "flock|lock|pipe|read|data|hold|held|" + NEVER,
     "a loader left over by an earlier job has the lock and reads from a pipe of which it has the other end itself",
     {"rank0": "recv>rank1@reduce", "rank1": "flock>loader@prepare", "rank2": "recv>rank0@reduce",
     "loader": "read@loader"},
     also=[outside(r"data\.lock")], needs=["setsid"])
hang("s3", "tcp recv", "h13_s3.py", role("store"), TCP + FUTEX + "http|s3|upload|event|" + NEVER,
     "a store does not answer to a part of rank 0's upload", {"rank0": "*poll|recv@upload", "rank1": "recv>rank0",
     "store": "*futex@do_PUT"},
     also=[ranks(0), ADDRESS], needs=["boto3"])
hang("mount", "fuse", "h13_mount.py", role("objectfs"), "fuse|fsync|mount|mnt|objectfs|disk|file|sleep|serv",
     "what serves a mounted file system does not answer rank 0's fsync",
     {"rank0": "fsync@save", "rank1": "recv>rank0", "rank2": "recv>rank0", "objectfs": "~nanosleep|select@answer"},
     also=[outside(r"mnt|ckpt|fuse")], root=True)

# PyTorch and Ray
hang("pt-world", "store", "h13_pt_world.py", ranks(3), TCP + POLL + "store|rendezvous|init|group|" + NEVER,
     "three of four ranks were started, they wait in init_process_group", all_of(3,
     "~poll|recv|nanosleep|futex@init_process_group"),
     also=[NOBODY, outside(r"rank 3|(?i:world.?size)|not (been )?started|missing")], needs=["torch"])
hang("pt-async-save", "gloo", "h13_pt_async_save.py", cycle("rank0", "rank1"),
     GLOO + "thread|saver|" + ELSEWHERE + CIRCLE,
     "threads that save add up over the group of the training, at rank 0 before and at rank 1 after its next barrier",
     all_of(2, "futex@barrier"), also=[ranks(0), ranks(1), ranks(0, 1)], needs=["torch"])
hang("pt-drop-last", "gloo", "h13_pt_drop_last.py", ranks(1), GLOO + "batch|" + ELSEWHERE + CIRCLE,
     "the second stage wants a batch that the first has dropped, the first is at the barrier behind",
     {"rank0": "futex@barrier", "rank1": "futex@recv"}, also=[ranks(0), cycle("rank0", "rank1")], needs=["torch"])
hang("pt-nodes", "store", "h13_pt_nodes.py", NOBODY,
     TCP + POLL + "store|rendezvous|rdzv|node|agent|child|wait4|" + NEVER,
     "the agent of the first of two nodes waits for the second's, which was not started",
     {"launcher": "wait4>agent0", "agent0": "~poll|recv|nanosleep|select|futex@rendezvous"},
     also=[role("agent0"), outside(r"node|rendezvous|rdzv|not (been )?started")], needs=["torch"])
hang("ray-slots", "ray", "h13_ray_slots.py", role("server"),
     RAY + "slot|thread|concurren|cond|get|futex|wait|version|" + CIRCLE,
     "both threads of an actor wait for a version that the trainer's call would make, which has no thread",
     {"main": "~futex@get", "server": "*futex@pull", "worker0": "~futex@get", "worker1": "~futex@get"},
     also=[cycle("main", "server"), cycle("server", "server"), role("main"), ranks(0)], needs=["ray"])

# Healthy ones that are quiet for about 45 s
quiet("q-uneven", "tcp recv", "4* h13_uneven.go slow", 51, "rank 2 reads a batch for 45 s",
     "ranks that add up over TCP")
quiet("q-map", "pool", "h13_map.sh slow", 57, "a chunk takes 50 s", "a pool that tokenizes")
quiet("q-grpc", "grpc", "h13_grpc.py slow", 51, "a question takes 45 s", "a trainer that asks a store ahead",
     needs=["grpc"])
quiet("q-convert", "pipe", "h13_convert.java slow", 55, "a file takes the tool 45 s",
     "a program that waits for its tool", needs=["java", "perl"])
quiet("q-head", "sleep loop", "h13_head.sh slow", 51, "the head takes 47 s to start", "tasks that look for a file")
quiet("q-entrypoint", "wait4", "h13_entrypoint.sh slow", 53, "the service hands on what it has for 45 s",
     "a script that waits for a service to end")
quiet("q-finish", "unix recv", "h13_finish.py slow", 52, "the service uploads for 45 s",
     "a run that is being finished")
quiet("q-study", "sqlite", "h13_study.py slow", 55, "rank 0 computes with the file locked for 45 s",
     "rank 1 waits for sqlite's lock")
quiet("q-pause", "aio", "h13_pause.py slow", 63, "an evaluation takes 45 s", "paused trainers", needs=["aiohttp"])
quiet("q-tracker", "tcp connect", "h13_tracker.py slow", 56, "rank 0 tries for 45 s and gives up",
     "a tracker that does not answer")
quiet("q-shipper", "pipe full", "h13_shipper.sh slow", 57, "the collector turns its file over in 45 s",
     "what ranks print is posted")
quiet("q-old-job", "flock", "h13_old_job.sh slow", 56, "a process of the job before has work for 50 s",
     "rank 1 waits for a lock of a file", needs=["setsid"])
quiet("q-s3", "tcp recv", "h13_s3.py slow", 52, "a store takes 45 s for a part", "rank 0 uploads", needs=["boto3"])
quiet("q-mount", "fuse", "h13_mount.py slow", 54, "an fsync takes 45 s", "rank 0 saves to a mounted file system",
     root=True)
quiet("q-pt-drop-last", "gloo", "h13_pt_drop_last.py slow", 66, "a batch takes 45 s", "two stages", needs=["torch"])
quiet("q-pt-nodes", "store", "h13_pt_nodes.py slow", 85, "the second node comes 45 s late",
     "an agent waits for another one", needs=["torch"])
quiet("q-ray-slots", "ray", "h13_ray_slots.py slow", 66, "a version takes 45 s", "workers wait in an actor",
     needs=["ray"])

if __name__ == "__main__":
    BOOK.write("truth13.json")
