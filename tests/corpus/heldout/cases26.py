"""What is true of each program of programs26; `cases26.py` as a program writes truth26.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book

BOOK = Book("h26-", "programs26")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|read|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|gather|broadcast|select|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"
TORCH, RAY = ["torchgen"], ["ray"]  # torchgen comes with torch, and is imported at once
W = "*~futex|poll|select|recv|read"  # it waits, in whatever call its library does so

# Ranks of PyTorch
hang("uneven", "gloo", "h26_ddp.py uneven", ranks(2), SUM + ELSEWHERE + "epoch|" + CIRCLE,
     "rank 2 has a batch fewer and is at the end of the epoch, the others want its gradient",
     {"rank0": W + "@backward", "rank1": W + "@backward", "rank2": W + "@epoch_end"},
     also=[cycle("rank0", "rank1", "rank2")], needs=TORCH)
hang("unused", "gloo", "h26_ddp.py unused", ranks(1), SUM + ELSEWHERE + "find_unused|" + CIRCLE,
     "rank 1's last step uses half of the model, it has not reduced and waits for a number of rank 0, which is in backward",
     {"rank0": W + "@backward", "rank1": W + "@recv"}, also=[cycle("rank0", "rank1")], needs=TORCH)
hang("nan", "gloo", "h26_ddp.py nan", ranks(1), SUM + ELSEWHERE + "nan|finite|store|key|" + CIRCLE,
     "rank 1 has skipped a backward for a loss that is not finite, and waits for a word of rank 0, which is in its backward",
     {"rank0": W + "@backward", "rank1": W + "@nan"}, also=[cycle("rank0", "rank1")], needs=TORCH)
hang("rank0-barrier", "gloo", "h26_ddp.py rank0-barrier", ranks(0), SUM + ELSEWHERE + CIRCLE,
     "rank 0 alone goes to a barrier, rank 1 is in the next step's backward",
     {"rank0": W + "@epoch_end", "rank1": W + "@backward"}, also=[cycle("rank0", "rank1")], needs=TORCH)
hang("eval", "gloo", "h26_ddp.py eval", ranks(0), SUM + ELSEWHERE + "eval|" + CIRCLE,
     "rank 0 alone evaluates, with a sum over all ranks, which are at a barrier",
     {"rank0": W + "@all_reduce", "rank1": W + "@epoch_end", "rank2": W + "@epoch_end"},
     also=[cycle("rank0", "rank1", "rank2")], needs=TORCH)
hang("source", "gloo", "h26_talk.py source", ranks(1), SUM + ELSEWHERE + "src|root|" + CIRCLE,
     "rank 1 broadcasts its own weights, rank 0 too",
     {"rank0": W + "@source", "rank1": W + "@source", "rank2": W + "@source"},
     also=[cycle("rank0", "rank1"), cycle("rank0", "rank1", "rank2"), ranks(0)], needs=TORCH)
hang("group", "gloo", "h26_talk.py group", ranks(2), SUM + ELSEWHERE + "group|store|key|rendezvous|new_group|" + CIRCLE,
     "rank 2 has made one group fewer, the next one's name is another one for it",
     {"rank0": W + "@group", "rank1": W + "@group", "rank2": W + "@group"},
     also=[cycle("rank0", "rank1", "rank2")], needs=TORCH)
hang("order", "gloo", "h26_talk.py order", cycle("rank0", "rank1"), SUM + "send|order|both|" + CIRCLE,
     "two stages send to each other before they receive",
     {"rank0": W + "@send", "rank1": W + "@send"}, also=[ranks(0), ranks(1)], needs=TORCH)
hang("key", "store", "h26_talk.py key", ranks(1), SUM + ELSEWHERE + "store|key|ckpt|" + NEVER + "|" + CIRCLE,
     "rank 1 waits for a key of the store that nobody sets, rank 0 for rank 1's gradient",
     {"rank0": W + "@mean", "rank1": W + "@key"}, also=[cycle("rank0", "rank1")], needs=TORCH)
hang("objects", "gloo", "h26_talk.py objects", ranks(2), SUM + ELSEWHERE + "caption|object|" + CIRCLE,
     "rank 2 has swallowed an error and is at a barrier, the others gather its samples",
     {"rank0": W + "@all_gather_object", "rank1": W + "@all_gather_object", "rank2": W + "@barrier"},
     also=[cycle("rank0", "rank1", "rank2")], needs=TORCH)
hang("sync", "rpc", "h26_talk.py sync", cycle("rank0", "rank1"), FUTEX + SUM + "rpc|" + CIRCLE,
     "rank 0 asks rank 1 under a lock, which asks rank 0 back, whose answer wants the lock",
     {"rank0": W + "@publish", "rank1": W + "@confirm"}, also=[ranks(0), ranks(1)], needs=TORCH)
hang("world", "file loop", "h26_start.py world", outside("rank 2|missing|2 of 3|world|never (came|join|start)|not (there|start|join|come)|absent"),
     LOOP + SUM + "rank 2|world|rendezvous|init|meet|" + NEVER, "two ranks of three are started",
     {"main": "wait4>rank0", "rank0": "~.@world_rank", "rank1": "~.@world_rank"},
     also=[ranks(2), cycle("rank0", "rank1"), ranks(0, 1)], needs=TORCH)
hang("download", "flock", "h26_start.py download", cycle("rank0", "rank1"), FUTEX + SUM + "flock|file|data.lock|" + CIRCLE,
     "rank 0 is at a barrier with a file's lock, rank 1 waits for the lock",
     {"rank0": W + "@barrier", "rank1": "flock>rank0@fetched"}, also=[ranks(0), ranks(1)], needs=TORCH)
hang("upload", "pipe", "h26_start.py upload", role("uploader", 0), LOOP + SUM + "pipe|write|full|upload|token|" + NEVER,
     "an uploader looks for a token, rank 0 writes to it, rank 1 waits at a barrier",
     {"rank0": "write>uploader@upload", "rank1": W + "@barrier", "uploader": "~nanosleep|select"},
     also=[ranks(0), role("uploader")], needs=TORCH)
hang("restart", "flock", "h26_start.py restart", role("server"), FUTEX + LOOP + "flock|file|cache|held|hold|",
     "a server of the ranks before the restart has the lock that rank 0 wants",
     {"rank0": "flock>server@restart", "rank1": W + "@", "server": "~nanosleep|select"},
     also=[role("server", 0), ranks(0)], loud=True, needs=TORCH)

hang("lightning", "gloo", "h26_lightning.py save", ranks(0), SUM + LOOP + ELSEWHERE + "checkpoint|" + CIRCLE,
     "rank 0 alone saves, which meets all ranks, of which rank 1 waits for the file",
     {"rank0": W + "@barrier", "rank1": "~nanosleep|select@on_train_epoch_end"}, also=[cycle("rank0", "rank1")], needs=["lightning"])
hang("accelerate", "gloo", "h26_accelerate.py gather", ranks(0), SUM + ELSEWHERE + "main_process|" + CIRCLE,
     "rank 0 alone sums a metric, while rank 1 is at the barrier before it",
     {"rank0": W + "@metric", "rank1": W + "@wait_for_everyone"}, also=[cycle("rank0", "rank1")], needs=["accelerate"])

# One process of PyTorch
hang("loader-lock", "futex", "h26_loader.py lock", role("loader0"), FUTEX + "fork|loader|cache|" + NEVER,
     "forked workers of a loader want a lock that a thread of their parent had",
     {"main": W + "@_try_get_data", "loader0": "futex@cached", "loader1": "futex@cached"},
     also=[role("loader1"), role("loader0", 0), role("loader1", 0), role("main"), ranks(0)], needs=TORCH)
hang("loader-init", "sleep loop", "h26_loader.py init", role("loader0"), LOOP + FUTEX + "loader|index|worker|" + NEVER,
     "workers of a loader look for a file under a name that nobody writes",
     {"main": W + "@_try_get_data", "loader0": "~nanosleep|select@begin", "loader1": "~nanosleep|select@begin"},
     also=[role("loader1"), role("loader0", 0), role("loader1", 0), role("main"), ranks(0)], needs=TORCH)
hang("loader-pipe", "pipe", "h26_loader.py pipe", cycle("loader0", "decoder"), SUM + "pipe|full|write|decoder|stderr|" + CIRCLE,
     "a worker of a loader reads its decoder's output, which waits for room in the other pipe",
     {"main": W + "@_try_get_data", "decoder": "write"},
     also=[role("decoder"), role("loader0"), role("decoder", 0), role("loader0", 0), role("loader1"), role("loader1", 0)], needs=TORCH)
hang("queue", "futex", "h26_single.py queue", role("producer"), FUTEX + SUM + GONE + "|queue|pipe|producer|checksum|" + NEVER,
     "a producer has left after an error that it printed, its consumer waits for tensors",
     {"main": W + "@get", "producer": "gone"}, also=[role("main"), ranks(0), role("producer", 0)], needs=TORCH)
hang("save", "futex", "h26_single.py save", role("main"), FUTEX + "future|result|saver|checkpoint|" + CIRCLE,
     "a checkpoint's thread wants the lock under which the training waits for it", {"main": "*futex@save"}, needs=TORCH)
hang("hook", "futex", "h26_single.py hook", role("main"), FUTEX + "hook|compress|gradient|event|columns|" + NEVER,
     "a gradient's hook waits for a thread that has failed", {"main": "futex@hook"}, loud=True, needs=TORCH)
hang("build", "flock loop", "h26_single.py build", role("builder"), LOOP + FUTEX + "lock|extension|build|cache|" + NEVER,
     "the build of an extension wants a file's lock, whose holder looks for a file that does not come",
     {"main": "~nanosleep|select@acquire", "builder": "~nanosleep|select@builder"},
     also=[role("builder", 0), role("main"), ranks(0)], needs=TORCH)

# Ray
hang("ray-cpus", "ray", "h26_ray.py cpus", outside(r"CPU|resource|schedul|pending|placed|no room"), FUTEX + SUM + "ray|get|task|actor|resource|",
     "actors have all processors, and a task waits for one", {"main": W + "@cpus"},
     also=[role("main"), ranks(0), role("learner0"), role("learner1"), role("learner0", 0), role("learner1", 0)], needs=RAY)
hang("ray-self", "ray", "h26_ray.py self", role("learner0"), FUTEX + SUM + "ray|itself|own|actor|" + CIRCLE,
     "an actor waits for its own answer", {"main": W + "@self_", "learner0": W + "@score"},
     also=[role("learner0", 0)], needs=RAY)
hang("ray-mutual", "ray", "h26_ray.py mutual", cycle("learner0", "learner1"), FUTEX + SUM + "ray|actor|" + CIRCLE,
     "two actors wait for each other's answer", {"main": W + "@mutual", "learner0": W + "@score", "learner1": W + "@score"},
     also=[role("learner0"), role("learner1"), role("learner0", 0), role("learner1", 0)], needs=RAY)
hang("ray-queue", "ray", "h26_ray.py queue", role("main"), FUTEX + SUM + LOOP + "ray|queue|empty|denied|" + NEVER,
     "a task has swallowed an error, the driver waits at an empty queue", {"main": W + "@queue"}, also=[ranks(0)], needs=RAY)
hang("ray-place", "ray", "h26_ray.py place", outside(r"CPU|resource|schedul|pending|placement|placed|no room"),
     FUTEX + SUM + "ray|placement|resource|ready|",
     "a placement group wants four processors of two", {"main": W + "@place"}, also=[role("main"), ranks(0)], needs=RAY)
hang("ray-event", "ray", "h26_ray.py event", role("gate"), FUTEX + SUM + "ray|event|asyncio|actor|" + NEVER,
     "an asynchronous actor waits for an event that was set before it was made", {"main": W + "@event", "gate": W},
     also=[role("gate", 0), role("main"), ranks(0)], needs=RAY)
hang("ray-left", "gloo", "h26_ray.py left", role("member1"), SUM + FUTEX + "ray|member|idle|left|return|actor|" + NEVER,
     "member 1 of a ring has returned early, member 0 is in a sum", {"main": W + "@left", "member0": W + "@train", "member1": W},
     also=[role("member1", 1), role("member0"), role("member0", 0), ranks(1), cycle("member0", "member1")], needs=["ray", *TORCH])

# Others
hang("mpi", "mpi", "3 h26_mpi.py", ranks(2), SUM + ELSEWHERE + "spin|busy|mpi|message|shard|" + CIRCLE,
     "rank 2 has swallowed an error and waits for a message of rank 0, the others for its part of a sum",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin"}, also=[cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")],
     needs=["mpi4py", "mpiexec"])
hang("queue-join", "epoll", "h26_queue.py", role("main"), SUM + FUTEX + "epoll|queue|join|task_done|asyncio|" + NEVER,
     "the end of a queue is waited for, of which one item was never done", {"main": "epoll"})
hang("grpc", "grpc", "h26_grpc.py", role("server"), SUM + FUTEX + "grpc|itself|own|" + CIRCLE,
     "a service with one thread asks itself", {"main": W + "@rank_documents", "server": W + "@score"},
     also=[role("server", 0), cycle("main", "server")], needs=["grpc"])
hang("zmq", "zmq", "h26_zmq.py", cycle("main", "actor"), SUM + "zmq|zeromq|weights|version|" + CIRCLE,
     "an actor waits for weights that were sent before it subscribed, the learner for its episodes",
     {"main": W + "@learn", "actor": W + "@act"}, also=[role("actor"), role("actor", 0)], needs=["zmq"])
hang("barrier", "futex", "h26_numpy.py", role("worker2"), SUM + FUTEX + GONE + "|barrier|" + NEVER,
     "one of three has left, the others are at a barrier",
     {"main": "wait4|futex|poll", "worker0": "*~futex@wait", "worker1": "*~futex@wait", "worker2": "gone"},
     also=[role("worker0"), role("worker1"), role("worker2", 0), role("main"), ranks(0)], needs=["numpy"])

# Healthy ones
quiet("q-eval", "gloo", "h26_ddp.py eval slow", 115, "rank 0 evaluates for 68 s", "the others wait at a barrier", needs=TORCH)
quiet("q-rank0-barrier", "gloo", "h26_ddp.py rank0-barrier slow", 115, "rank 1 packs samples for 66 s", "rank 0 waits at a barrier", needs=TORCH)
quiet("q-key", "store", "h26_talk.py key slow", 115, "rank 0 copies a checkpoint for 68 s", "rank 1 waits for a key", needs=TORCH)
quiet("q-limit", "store", "h26_talk.py limit", 110, "rank 1's time limit of 65 s strikes", "rank 0 waits for its gradient", needs=TORCH)
quiet("q-world", "file loop", "h26_start.py world slow", 110, "rank 2 is started after 66 s", "the others look for it", needs=TORCH)
quiet("q-download", "flock", "h26_start.py download slow", 115, "rank 0 downloads for 66 s", "rank 1 waits for its lock", needs=TORCH)
quiet("q-upload", "pipe", "h26_start.py upload slow", 115, "an uploader's token comes after 66 s", "rank 0 writes to it", needs=TORCH)
quiet("q-lightning", "gloo", "h26_lightning.py save slow", 115, "rank 0 sends a checkpoint away for 66 s", "rank 1 waits for it", needs=["lightning"])
quiet("q-accelerate", "gloo", "h26_accelerate.py gather slow", 120, "rank 0 tokenizes for 66 s", "rank 1 waits for it", needs=["accelerate"])
quiet("q-loader-init", "sleep loop", "h26_loader.py init slow", 120, "an index is made for 66 s", "workers of a loader look for it", needs=TORCH)
quiet("q-loader-item", "poll", "h26_loader.py item", 120, "one sample takes 70 s", "main waits for its loader", needs=TORCH)
quiet("q-queue", "futex", "h26_single.py queue slow", 110, "a shard comes after 70 s", "main waits at a queue", needs=TORCH)
quiet("q-save", "futex", "h26_single.py save slow", 105, "a slow storage takes a checkpoint for 68 s", "main waits for its thread", needs=TORCH)
quiet("q-hook", "futex", "h26_single.py hook slow", 105, "a gradient is compressed for 64 s", "backward waits for it", needs=TORCH)
quiet("q-build", "flock loop", "h26_single.py build slow", 110, "another process builds for 66 s", "main wants its lock", needs=TORCH)
quiet("q-compile", "wait4", "h26_single.py compile", 110, "a tuner computes for 68 s", "a compilation waits for it", needs=TORCH)
quiet("q-ray-cpus", "ray", "h26_ray.py cpus slow", 125, "actors end after 85 s", "a task waits for a processor", needs=RAY)
quiet("q-ray-mutual", "ray", "h26_ray.py mutual slow", 110, "an actor computes for 66 s", "another one and the driver wait for it", needs=RAY)
quiet("q-ray-queue", "ray", "h26_ray.py queue slow", 115, "a producer's shard comes after 67 s", "the driver waits at a queue", needs=RAY)
quiet("q-ray-place", "ray", "h26_ray.py place slow", 130, "a trial has the processors for 95 s", "the driver waits for it", needs=RAY)
quiet("q-ray-left", "gloo", "h26_ray.py left slow", 115, "member 1 evaluates for 66 s", "member 0 is in a sum", needs=["ray", *TORCH])
quiet("q-ray-work", "ray", "h26_ray.py work", 120, "tasks compute for 80 s", "the driver waits for them", needs=RAY)
quiet("q-mpi", "mpi", "3 h26_mpi.py slow", 85, "rank 2 repairs a shard for 66 s", "the others wait in a sum", needs=["mpi4py", "mpiexec"])
quiet("q-queue-join", "epoll", "h26_queue.py slow", 78, "a page takes 64 s", "the end of a queue is waited for")
quiet("q-grpc", "grpc", "h26_grpc.py slow", 90, "a score takes 66 s", "main waits for it", needs=["grpc"])
quiet("q-zmq", "zmq", "h26_zmq.py slow", 88, "an episode takes 68 s", "the learner waits for it", needs=["zmq"])
quiet("q-barrier", "futex", "h26_numpy.py slow", 82, "one cleans its part for 66 s", "the others are at a barrier", needs=["numpy"])

if __name__ == "__main__":
    BOOK.write("truth26.json")
