"""What is true of each program of programs22; `cases22.py` as a program writes truth22.json. `see`: check4.py."""
from cases4 import CIRCLE, GONE, NEVER, cycle, outside, ranks, role
from kitcases import Book

BOOK = Book("h22-", "programs22")
CASES, hang, quiet = BOOK.cases, BOOK.hang, BOOK.quiet
SUM = "recv|tcp|unix|socket|peer|answer|collective|barrier|gradient|sum|reduc|gather|select|poll|"
FUTEX = "futex|lock|sem|mutex|thread|cond|wait|join|"
LOOP = "poll|sleep|loop|retr|look|file|exist|"
SPIN = "spin|busy|loop|cpu|processor|comput|running|works|"
ELSEWHERE = "not in|elsewhere|behind|ahead|another|different|fewer|uneven|step|"

# Training loops
hang("save-barrier", "tcp recv", "h22_save_barrier.py", ranks(0), SUM + ELSEWHERE + "save|" + CIRCLE,
     "rank 0 has written the model and does not come to the barrier at which the others wait for it",
     {"rank0": "recv>rank1@train_step", "rank1": "recv>rank0@save_model", "rank2": "recv>rank0@save_model"},
     also=[cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank1")])
hang("eval-main", "unix recv", "h22_eval_main.py", ranks(0), SUM + ELSEWHERE + "evaluat|metric|" + CIRCLE,
     "only rank 0 evaluates, and waits in a gathering for the others, who sum gradients",
     {"rank0": "recv>rank1@gather_for_metrics", "rank1": "recv>rank0@all_reduce", "rank2": "recv>rank0@all_reduce"},
     also=[cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank1")])
hang("best-path", "spin", "h22_best_path.py", ranks(1), SPIN + "free_name|exist|stat|file|" + SUM + ELSEWHERE,
     "rank 1 looks for ever for a name that is free",
     {"rank0": "recv>rank1@all_reduce", "rank1": "spin", "rank2": "recv>rank1@all_reduce"})
hang("oom-skip", "tcp recv", "h22_oom_skip.py", ranks(2), SUM + ELSEWHERE + "skip|memory|" + CIRCLE,
     "rank 2 has skipped a batch between two sums and is in the next step's first one",
     {"rank0": "recv>rank2@sum_gradient", "rank1": "recv>rank2@sum_gradient", "rank2": "recv>rank0@sum_loss"},
     also=[cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank2")])
hang("fork-log", "futex", "h22_fork_log.py", role("loader"), FUTEX + "fork|metrics|" + NEVER,
     "a loader was forked while a thread held a lock, which is so closed in the loader for ever; the training waits for it",
     {"main": "read>loader@next_batch", "loader": "futex@add"}, also=[role("loader", 0), cycle("main", "loader")])
hang("archive-lock", "futex", "h22_archive_lock.py", role("loader0"), FUTEX + GONE + "|archive|batch|" + NEVER,
     "a loader was killed with a lock that the second one waits for; rank 1 waits for batches",
     {"rank0": "recv>rank1@all_reduce", "rank1": "read>loader1@next_batch", "loader0": "gone", "loader1": "futex@load"},
     also=[role("loader0", 1), ranks(1)], gone=True)
hang("nobody-third", "accept", "h22_nobody_third.py", outside(r"rank 2\b|third|2 of 3|WORLD_SIZE|world of 3|3 ranks"),
     SUM + "accept|rendezvous|connect|join|" + GONE + "|missing|started|" + NEVER,
     "rank 2 of a world of three was started by nobody, rank 0 waits for it to connect",
     {"rank0": "accept@rendezvous", "rank1": "recv>rank0@rendezvous"}, also=[ranks(2), ranks(0), role("rank0", 0)])
hang("run-folder", "sleep loop", "h22_run_folder.py", ranks(1), LOOP + "hard_examples|folder|runs/|" + NEVER,
     "rank 1 looks for a file in a folder of its own into which nobody writes it; rank 0 waits for rank 1",
     {"rank0": "recv>rank1@all_reduce", "rank1": "~nanosleep|select@hard_examples"},
     also=[outside(r"runs/.*hard_examples|hard_examples\.json")])
hang("layerdrop", "tcp recv", "h22_layerdrop.py", ranks(1), SUM + ELSEWHERE + "layer|weights|" + CIRCLE,
     "rank 1 has drawn other layers to leave out, and gathers another one than the others",
     {"rank0": "recv>rank1@gather_layer", "rank1": "recv>rank0@gather_layer", "rank2": "recv>rank1@gather_layer"},
     also=[cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank1")])
hang("stale-resume", "tcp recv", "h22_stale_resume.py", ranks(1), SUM + ELSEWHERE + "resum|evaluat|" + CIRCLE,
     "rank 1 was resumed ten steps behind and sums gradients, the others are in an evaluation",
     {"rank0": "recv>rank1@evaluate", "rank1": "recv>rank0@train_step", "rank2": "recv>rank1@evaluate"},
     also=[cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank1")])
hang("reward-timeout", "futex", "h22_reward_timeout.py", ranks(1), FUTEX + SPIN + "root|pool|shutdown|timeout|sleep",
     "rank 1 waits at a pool's end for a thread that calculates for ever",
     {"rank0": "recv>rank1@all_reduce", "rank1": "futex@reward"})
hang("prefetch-thread", "futex", "h22_prefetch_thread.py", ranks(1),
     FUTEX + "queue|prefetch|ValueError|traceback|error|batch|" + NEVER,
     "rank 1's thread for batches has failed, its main thread waits for the next one",
     {"rank0": "recv>rank1@all_reduce", "rank1": "futex@next_batch"}, loud=True)
hang("nested-submit", "futex", "h22_nested_submit.py", role("main"), FUTEX + "pool|future|result|itself|own|" + CIRCLE,
     "all threads of a pool wait for results of tasks that wait for a thread of it", {"main": "futex@wait_for"})
hang("async-block", "futex", "h22_async_block.py", ranks(1), FUTEX + "loop|asyncio|corout|itself|own|result|" + CIRCLE,
     "rank 1's event loop waits in its own thread for a coroutine that it would have to run",
     {"rank0": "recv>rank1@all_reduce", "rank1": "futex@call_sync"})
hang("upload-retry", "retry loop", "h22_upload_retry.py", role("uploader"),
     LOOP + "connect|refus|upload|finish|pipe|read|server|" + NEVER,
     "a process beside rank 0 tries for ever to reach a server that is not there, rank 0 waits for it, rank 1 for rank 0",
     {"rank0": "read>uploader@finish", "rank1": "recv>rank0@barrier", "uploader": "~nanosleep|select|connect@uploader"},
     also=[role("uploader", 0), ranks(0)])
hang("first-downloads", "tcp recv", "h22_first_downloads.py", ranks(2), SUM + ELSEWHERE + "stage|data|" + CIRCLE,
     "rank 2 found its data there and has left out the barrier at which the others wait",
     {"rank0": "recv>rank2@stage_data", "rank1": "recv>rank2@stage_data", "rank2": "recv>rank0@train_step",
      "rank3": "recv>rank2@stage_data"},
     also=[cycle("rank0", "rank1", "rank2", "rank3"), cycle("rank0", "rank2")])

# Messages and shared memory
hang("synced-gen", "shared memory", "h22_synced_gen.py", ranks(1), LOOP + ELSEWHERE + "board|memory|layers|" + CIRCLE,
     "rank 1 has left the generation and sums gradients, the others gather layers for the next token",
     {"rank0": "~nanosleep|select@gather_layers", "rank1": "~nanosleep|select@sum_gradients",
      "rank2": "~nanosleep|select@gather_layers"}, also=[cycle("rank0", "rank1", "rank2"), cycle("rank0", "rank1")])
hang("lost-request", "zmq", "h22_lost_request.py", role("server"), SUM + "zmq|request|message|lost|" + CIRCLE + "|" + NEVER,
     "a server has dropped rank 1's request, which waits for the answer; the server waits for requests",
     {"rank0": "recv>rank1@all_reduce", "rank1": "poll@features", "server": "poll@serve"},
     also=[ranks(1), role("server", 1), cycle("rank1", "server")], needs=["zmq"])
hang("wrong-port", "zmq", "h22_wrong_port.py", ranks(2), SUM + "zmq|send|push|port|connect|refus|message|" + CIRCLE + "|" + NEVER,
     "rank 2 sends to a port at which nobody listens, rank 0 waits for what it sends",
     {"rank0": "poll@collect", "rank1": "poll@new_weights", "rank2": "poll@hand_in"}, needs=["zmq"])
hang("no-sentinel", "grpc", "h22_no_sentinel.py", ranks(1), SUM + FUTEX + "grpc|queue|stream|thread|" + CIRCLE + "|" + NEVER,
     "rank 1's stream of predictions is never ended, the server waits for more of it, rank 1 for the server's answer",
     {"rank0": "recv>rank1@all_reduce", "rank1": "*~futex|poll|epoll@upload", "server": "*~futex|poll|epoll@collect"},
     also=[cycle("rank1", "server"), role("server"), role("server", 1)], needs=["grpc"])
hang("mpi-no-stop", "mpi", "3 h22_mpi_no_stop.py", ranks(2), SUM + SPIN + "mpi|work|stop|" + ELSEWHERE + CIRCLE,
     "rank 2 waits for work and was not told the end, the others are in a barrier",
     {"rank0": "spin", "rank1": "spin", "rank2": "spin"}, also=[ranks(0), cycle("rank0", "rank2"), cycle("rank0", "rank1", "rank2")],
     needs=["mpi4py", "mpiexec"])
hang("short-read", "tcp recv", "h22_short_read.py", cycle("rank0", "rank1"), SUM + "length|bytes|message|" + CIRCLE,
     "rank 0 has taken the rest of a message for a length and waits for more bytes, rank 1 for its word",
     {"rank0": "recv>rank1@take", "rank1": "recv>rank0@wait_word"}, also=[ranks(0), ranks(1)])
hang("slots", "semaphore", "h22_slots.py", cycle("rank1", "decoder"), FUTEX + "slot|ring|batch|free|full|" + CIRCLE,
     "a batch is larger than the ring of slots: the decoder waits for a free one, rank 1 for the next image",
     {"rank0": "recv>rank1@all_reduce", "rank1": "futex@batch", "decoder": "futex@decode_always"},
     also=[ranks(1), role("decoder"), role("decoder", 1)])
hang("keep-alive", "http", "h22_keep_alive.py", cycle("rank0", "rank1", "server"), SUM + "http|accept|connection|request|" + CIRCLE,
     "a server waits for the next request of rank 0's connection, rank 1 waits for the server, rank 0 for rank 1",
     {"rank0": "recv>rank1@all_reduce", "rank1": "recv@rate", "server": "recv>rank0"},
     also=[role("server"), ranks(0), role("server", 0), role("server", 1), cycle("rank1", "server"),
           cycle("rank0", "server")])
hang("stdout-pipe", "pipe write", "h22_stdout_pipe.py", role("launcher"), "pipe|write|full|output|stdout|" + CIRCLE,
     "rank 1's output is a full pipe that the launcher does not read, as it waits for rank 0's lines; rank 0 waits for rank 1",
     {"rank0": "recv>rank1@all_reduce", "rank1": "write>launcher@warn", "launcher": "read>rank0@pass_on"},
     also=[role("launcher", 1), ranks(1), cycle("rank1", "launcher"), cycle("rank0", "rank1", "launcher")])

# Services, loaders and scripts
hang("gpu-monitor", "wait4", "h22_gpu_monitor.sh", role("monitor"), LOOP + "wait|child|background|monitor|" + NEVER,
     "the training is done, the script waits for a loop in the background as well, which never ends",
     {"main": "wait4|waitid", "monitor": "~wait4|waitid", "train": "gone"}, also=[role("main"), ranks(0), cycle("main", "monitor")])
hang("wait-server", "sleep loop", "h22_wait_server.sh", role("server"), LOOP + GONE + r"|model\.sock|socket|server|" + NEVER,
     "a server has failed at its start, the script looks for its socket",
     {"main": "~wait4|waitid", "server": "gone"}, also=[role("main"), ranks(0), outside(r"model\.sock")], gone=True)
hang("wait-group", "go", "h22_wait_group.go", role("main"), FUTEX + "goroutine|group|" + NEVER,
     "the main goroutine waits for a group of which one member has left without a word", {"main": "*futex|epoll"})
hang("first-error", "go", "h22_first_error.go", role("main"), FUTEX + "goroutine|group|channel|chan|send|" + CIRCLE,
     "four goroutines wait until somebody takes their results, the main one waits for their end", {"main": "*~futex|epoll"})
hang("guard-match", "futex", "h22_guard_match.rs", role("main"), FUTEX + "itself|own|holds|" + CIRCLE,
     "the main thread locks a mutex that it has locked", {"main": "futex"})
hang("lost-notify", "futex", "h22_lost_notify.cpp", role("main"), FUTEX + "notif|wake|batch|" + CIRCLE + "|" + NEVER,
     "a batch was told before anybody waited: the training waits for it, its loading thread until it is taken", {"main": "futex"})
hang("lock-order", "futex", "h22_lock_order.c", role("main"), FUTEX + CIRCLE,
     "two threads have a mutex each and want that of the other one", {"main": "futex"})
hang("latch", "java", "h22_latch.java", role("main"), FUTEX + "park|latch|count|pool|" + NEVER,
     "main waits at a latch that a failed task has not counted down", {"main": "*futex"}, needs=["java"])
hang("stdin-open", "epoll", "h22_stdin_open.js", role("main"), "stdin|pipe|socket|read|close|end|epoll|poll|child|" + CIRCLE,
     "an exporter waits for a compressor's end without having ended its input, of which the compressor wants more",
     {"main": "~epoll", "packer": "read"}, also=[cycle("main", "packer"), role("packer"), ranks(0)])

# Healthy ones
quiet("q-save-barrier", "tcp recv", "h22_save_barrier.py slow", 64, "rank 0 writes for 48 s", "the others wait at a barrier")
quiet("q-eval-main", "unix recv", "h22_eval_main.py slow", 62, "rank 2 evaluates for 48 s", "the others wait in a gathering")
quiet("q-oom-skip", "tcp recv", "h22_oom_skip.py slow", 61, "rank 2 works for 48 s", "the others wait in a sum")
quiet("q-run-folder", "sleep loop", "h22_run_folder.py slow", 62, "rank 0 makes a file for 48 s", "rank 1 looks for it")
quiet("q-reward-timeout", "futex", "h22_reward_timeout.py slow", 62, "rank 1's thread calculates for 48 s",
      "rank 1 waits at the end of a pool")
quiet("q-async-block", "epoll", "h22_async_block.py slow", 64, "rank 1 waits for an answer of 48 s", "the other one waits in a sum")
quiet("q-upload-retry", "retry loop", "h22_upload_retry.py slow", 58, "a server comes after 50 s",
      "a process tries to reach it, rank 0 waits for it")
quiet("q-synced-gen", "shared memory", "h22_synced_gen.py slow", 66, "rank 1 needs 48 s for a token", "the others look at a board")
quiet("q-lost-request", "zmq", "h22_lost_request.py slow", 61, "a server needs 48 s for an answer", "rank 1 waits for it",
      needs=["zmq"])
quiet("q-slots", "semaphore", "h22_slots.py slow", 62, "a decoder needs 48 s for an image", "rank 1 waits at a semaphore")
quiet("q-keep-alive", "http", "h22_keep_alive.py slow", 62, "a server needs 48 s for an answer", "rank 1 waits for it")
quiet("q-wait-server", "sleep loop", "h22_wait_server.sh slow", 56, "a server loads for 48 s", "the script looks for its socket")
quiet("q-wait-group", "go", "h22_wait_group.go slow", 61, "a goroutine works for 48 s", "the main one waits for a group")
quiet("q-no-sentinel", "grpc", "h22_no_sentinel.py slow", 63, "rank 1's writer needs 48 s", "rank 1 waits for a server's answer",
      needs=["grpc"])
quiet("q-gpu-monitor", "wait4", "h22_gpu_monitor.sh slow", 57, "a training says nothing for 48 s", "a script waits for it")
quiet("q-latch", "java", "h22_latch.java slow", 61, "a task works for 48 s", "main waits at a latch", needs=["java"])

if __name__ == "__main__":
    BOOK.write("truth22.json")
