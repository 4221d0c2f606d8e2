"""What is true of programs6/deaths; as a program it writes deaths6.json and memory6.json. ../check_deaths.py holds the programs to it."""
import json
import os

HERE = "{here}/programs6/deaths/"
SENDER = HERE + "d6_sender.py"
SIGNAL, MAYBE, KILLED = ["signal"], ["signal", "none"], ["killed_by", "error_exit"]
GROWTH = r"grow|grew|leak|MiB/s|MB/s|per second|/s\b|rose|increas|climb"
NEEDS = {"c": ["gcc"], "cpp": ["g++"], "rs": ["rustc"], "go": ["go"], "js": ["node"], "java": ["java", "javac"], "sh": ["bash"]}
DEATHS, MEMORY = [], []


def command(run, folder=HERE):
    words = run.split()
    at = next(i for i, w in enumerate(words) if "." in w and w.rpartition(".")[2] in (*NEEDS, "py"))
    stem, _, kind = words[at].rpartition(".")
    with_ = {"py": ["{python}", "-u"], "js": ["node"], "sh": ["bash"], "java": ["java"]}
    own = [*with_[kind], folder + words[at]] if kind in with_ else ["{bin}/" + stem]
    return [*words[:at], *own, *words[at + 1:], *(["{python}"] if kind == "sh" else [])], kind


def death(name, run, leaves, why, about, killer="none", kind=("error_exit",), signal=None, sender=None, rank=None, not_=(), shallow=(),
          needs=(), **more):
    """more: outside (arguments of d6_sender.py), nproc, last and early of the check."""
    words, suffix = command(run)
    truth = {"killer": killer, "kind": list(kind), "signal": signal, "sender": sender, "rank": rank, "why": [why], "not": list(not_)}
    if shallow:
        truth["shallow"] = list(shallow)
    check = {"exit": leaves, **{k: more.pop(k) for k in ("last", "early") if k in more}}
    if "outside" in more:
        more["outside"] = ["{python}", SENDER, *more["outside"].split()]
    DEATHS.append({"name": "d6-" + name, "class": "death", "run": words, "needs": NEEDS.get(suffix, []) + list(needs), "about": about,
                   "truth": truth, "check": check, **more})


def memory(name, run, limit, who, about, innocent=(), what=GROWTH, not_=(), rank=None, check=None, needs=(), **more):
    words, suffix = command(run)
    truth = {"who": who, "what": [what], "innocent": list(innocent), "not": list(not_), "killer": ["vigil", "cgroup", "kernel"],
             "kind": ["memory_kill", "cgroup_oom"], "rank": rank}
    MEMORY.append({"name": "m6-" + name, "class": "memory", "run": words, "needs": NEEDS.get(suffix, []) + list(needs), "about": about,
                   "truth": truth, "check": check or {}, "limit": limit, **more})


def well(name, run, limit, about, leaves=0, why="", kind="clean_exit", not_=(), needs=()):
    """A program that does not end for its memory."""
    words, suffix = command(run)
    truth = {"who": None, "killer": "none", "kind": [kind], "signal": None, "sender": None, "rank": None, "why": [why], "not": list(not_)}
    MEMORY.append({"name": "m6-" + name, "class": "memory", "run": words, "needs": NEEDS.get(suffix, []) + list(needs), "about": about,
                   "truth": truth, "check": {"exit": leaves}, "limit": limit})


# Errors that a program tells
death("resumed", "d6_resumed.py", 0, r"rank 2\b|nothing left to train", "rank 2 was resumed at its last epoch and left with 0, the others lose it",
      kind=("peer_lost", "error_exit"), rank=2, nproc=3, early=2, shallow=("Connection|reset|closed",))
death("descriptors", "d6_descriptors.py", 1, "Too many open files", "no more descriptors, told inside of an error of the API", shallow=("upload of metrics",))
death("pages", "d6_pages.py", 1, "database or disk is full", "a database is at its limit of pages")
death("circular", "d6_circular.py", 1, "circular import|partially initialized|WIDTH", "two modules import each other")
death("symbol", "d6_symbol.py", 1, "fused_layer_norm_fwd|undefined symbol", "a library of another version lacks a function")
death("collate", "d6_collate.py", 1, "collate", "a spawned loader cannot find a function; its parent tells its status", shallow=("loader-0 ended",), last="Can't get attribute")
death("vocabulary", "d6_vocabulary.py", 1, "32128", "a pool's worker tells its reason and leaves, the pool is broken", shallow=("terminated abruptly|BrokenProcessPool",))
death("long-ago", "d6_long_ago.py", 1, "layers.3.mlp|not finite", "two errors of the network were handled 43 epochs ago", not_=("reset by peer",))
death("noise-thread", "d6_noise_thread.py", 1, "warmup_stable_decay", "a thread fails after the main thread's error", not_=("Broken ?pipe",))
death("handler-fails", "d6_handler_fails.py", 1, r"schedule_v7|No such file", "the handler of an error fails itself", shallow=("has no attribute 'close'",))
death("three-deep", "d6_three_deep.py", 1, "signature of the URL expired|403", "three errors, each from the one before", shallow=("3 attempts|sample 4711",))
death("language", "d6_language.py", 1, "数据集为空", "the last word is Chinese")
death("finished", "d6_finished.py", 3, "lists 0 files", "the last lines speak of a good end, the status and an earlier line do not", not_=("finished",))
death("absurd", "d6_absurd.py", 1, "Unable to allocate|58.2 TiB|4000000", "an array of 58 TiB", needs=["numpy"])
death("bar-after", "d6_bar_after.py", 1, "label 151|150 classes", "a bar is drawn again after the traceback", needs=["tqdm"])
death("place", "d6_place.py", 1, "getcwd|No such file", "its working folder was removed")
death("attend-late", "d6_attend_late.py", 1, "part-0007|Permission denied", "a task's error is found when it is awaited")
death("reraised", "d6_reraised.py", 1, r"codec can't decode|can't decode byte", "the main thread tells its loader's error as the cause", shallow=("stopped at row",))
death("second-life", "d6_second_life.py", 1, "9000 tokens|8192", "the first life failed for another reason, and was restarted", not_=("index.bin",))
death("stage-two", "d6_stage_two.sh", 1, "could not convert|'x'", "a stage of a pipeline fails, the script tells its last line", shallow=("stage 2 failed",))
death("unreachable", "d6_unreachable.py", 1, "UNAVAILABLE|failed to connect|refused", "a gRPC server is not there", needs=["grpc"])
death("far-error", "d6_far_error.py", 1, "user 17|Exception calling application", "the handler of a gRPC server has failed", needs=["grpc"])
death("worker-error", "d6_worker_error.js", 1, "shard 7 has 0 rows", "an error of a worker of Node is the cause of the last one", shallow=("worker is gone",))
death("init", "d6_Init.java", 1, '"auto"|NumberFormat', "a static initializer fails", shallow=("ExceptionInInitializer",))
death("panics", "d6_panics.rs", 101, "index out of bounds|len is 8", "a thread panics, then who joins it", shallow=("unwrap",))
death("depth", "d6_depth.go", 2, "stack (overflow|exceeds)|exceeds 1048576", "a goroutine's stack is over its limit", kind=("error_exit", "crash"))

# Ends that are good ones
death("enough", "d6_enough.py", 0, "", "stops early by its own choice", kind=("clean_exit",), last="")
death("alarming", "d6_alarming.py", 0, "", "a crashed worker was replaced, the end is good", kind=("clean_exit",), last="", not_=("SIGABRT",))

# Crashes
death("destructor", "d6_destructor.cpp", -6, "cache index is inconsistent", "a destructor throws", kind=("crash",), signal=6, shallow=("SIGABRT|terminate",))
death("rsync", "d6_rsync.py", -7, "SIGBUS|Bus error", "another process cuts off the mapped file", kind=("crash",), killer=["none", "kernel"], signal=7,
      needs=["numpy"], not_=("shm.*full",), last="")
death("stack", "d6_stack.c", -11, "stack", "a thread's stack is too small", kind=("crash",), killer=["none", "kernel"], signal=11,
      shallow=("SIGSEGV|segmentation",), last="")
death("readonly", "d6_readonly.c", -11, "SIGSEGV|segmentation", "a write to a page that may only be read", kind=("crash",), killer=["none", "kernel"],
      signal=11, last="")
death("overrun", "d6_overrun.c", -6, "overrun at slot 12|consumer 2", "a last word, then abort", kind=("crash",), signal=6, shallow=("SIGABRT",))

# Limits
death("seconds-of-child", "d6_seconds_of_child.py", 1, "SIGXCPU|CPU time|RLIMIT_CPU", "a child is over its seconds of processor time",
      killer=["kernel", "signal", "none"], kind=("error_exit", "killed_by"), shallow=("ended with -24",), last="-24")
death("archive-limit", "d6_archive_limit.py", 1, "SIGXFSZ|File size limit|RLIMIT_FSIZE|File too large", "a child is over the size of a file",
      killer=["kernel", "signal", "none"], kind=("error_exit", "killed_by"), last="SIGXFSZ")
death("virtual-timer", "d6_virtual_timer.py", -26, "SIGVTALRM|timer|alarm", "a timer that it set itself", killer=["signal", "kernel", "none"],
      kind=("killed_by", "crash"), signal=26, last="")
death("busy-limit", "d6_busy.py", -24, "SIGXCPU|CPU time|RLIMIT_CPU", "somebody sets a limit of processor time from outside", killer=["kernel", "signal"],
      kind=("killed_by", "crash"), signal=24, sender="kernel", outside="limit main", last="")

# Signals, by whom
death("executor-outside", "d6_executor_outside.py", 1, "SIGKILL", "somebody kills a worker of a pool", killer=MAYBE, kind=KILLED, sender="outsider",
      shallow=("terminated abruptly|BrokenProcessPool",), outside="worker KILL", last="terminated abruptly")
death("smaller-batch", "d6_smaller_batch.py", -15, "SIGTERM", "an error of the device was handled, then somebody ends it", killer="signal", kind=("killed_by",),
      signal=15, sender="outsider", not_=("out of memory|oom",), outside="main TERM", last="")
death("graceful", "d6_graceful.sh", 124, "timeout|time limit|SIGTERM", "timeout(1) ends it, it saves and leaves well", killer=MAYBE, kind=KILLED, last="state.pt")
death("deaf", "timeout -k 1 3 d6_deaf.py", [137, -9], "timeout|time limit|SIGKILL", "timeout(1) has to end it twice", killer=MAYBE, kind=KILLED,
      not_=("out of memory|oom",), last="one more epoch")
death("supervisor", "d6_supervisor.sh", 70, "loss is nan|nan since", "a supervisor ends the trainer when its loss is nan", killer=MAYBE, kind=KILLED,
      shallow=("SIGKILL",))
death("orphans", "d6_orphans.py", -9, "SIGKILL", "somebody kills the launcher, its ranks are ended with it", killer="signal", kind=("killed_by",), signal=9,
      sender="outsider", outside="launcher KILL", last="")
death("keyboard", "d6_keyboard.py", -2, "SIGINT|Ctrl-C|KeyboardInterrupt|interrupt", "Ctrl-C at the whole group", killer="signal", kind=("killed_by",), signal=2,
      sender="outsider", outside="group main INT", last="KeyboardInterrupt")
death("threads-java", "d6_Threads.java", 143, "SIGTERM", "a dump of threads was asked for, then it was ended", killer=MAYBE, kind=KILLED, sender="outsider",
      not_=("SIGQUIT.*(ended|killed)",), outside="main QUIT TERM", last="thread dump")
death("notify-go", "d6_notify.go", 1, "SIGTERM|terminated", "a Go program ends well by its own handler, with 1", killer=MAYBE, kind=KILLED, sender="outsider",
      outside="main TERM", last="shutting down")
death("own-group", "d6_own_group.py", -15, "SIGTERM", "it ends its own group", killer="signal", kind=("killed_by",), signal=15, sender="self", last="")
death("plain-rt", "d6_plain.py", -34, r"SIGRTMIN|real-?time signal|signal 34\b|RTMIN", "a real-time signal", killer="signal", kind=("killed_by",), signal=34,
      sender="outsider", outside="main RTMIN", last="")
death("plain-pwr", "d6_plain.py", -30, r"SIGPWR|signal 30\b|power", "the signal of a power failure", killer="signal", kind=("killed_by",), signal=30,
      sender="outsider", outside="main PWR", last="")
death("plain-segv", "d6_plain.py", -11, "SIGSEGV", "somebody sends the signal of a crash", killer="signal", kind=("killed_by", "crash"), signal=11, sender="outsider",
      outside="main SEGV", last="")
death("spot", "d6_spot.py", 85, "SIGUSR2", "it saves at a signal and leaves with a status of its own", killer=MAYBE, kind=KILLED, sender="outsider",
      outside="main USR2", last="SIGUSR2")
death("server-outside", "d6_server_outside.py", 1, "SIGKILL", "somebody kills the server that it asks", killer=MAYBE, kind=KILLED, sender="outsider",
      shallow=("RemoteDisconnected|Remote end closed|reset by peer",), outside="server KILL", last="Remote|reset")

# Ranks
death("two-reasons", "d6_two_reasons.py", 1, "language 'yue'|tokenizer for", "rank 2 fails, rank 1 then leaves with 0, rank 0 with an error of its own", rank=2,
      kind=("error_exit", "peer_lost"), nproc=3, shallow=("a peer gone|reset by peer",))
death("silent-four", "d6_silent_four.py", 4, r"\b4\b", "rank 1 leaves with 4 and says nothing", rank=1, kind=("error_exit", "peer_lost"), nproc=2,
      shallow=("reset by peer",), last="")
death("one-of-three", "d6_two_of_three.py", None, "SIGTERM", "somebody ends rank 2, the others lose it", killer=SIGNAL, kind=("killed_by", "error_exit", "peer_lost"),
      sender="outsider", rank=2, nproc=3, outside="rank2 TERM", shallow=("reset by peer|Broken ?pipe",), last="")
death("early-launch", "d6_early_launch.py", 1, "rank 1 left|rank 1.*(exit|end|left)", "rank 1 leaves with 0 before the others, its launcher says so", rank=None)
death("mesh-abort", "mpiexec -n 3 d6_mesh_abort.py", 7, "face 812|not conforming", "rank 1 tells why and aborts the world", kind=("error_exit", "crash"), needs=["mpi4py", "mpiexec"],
      shallow=("MPI_Abort|Abort",))
death("mesh-fault", "mpiexec -n 3 d6_mesh_fault.py", [139, 11], "SIGSEGV|Segmentation|signal 11", "rank 2 crashes under mpiexec", kind=("error_exit", "crash"),
      killer=["none", "kernel", "signal"], needs=["mpi4py", "mpiexec"], last="Segmentation|SIGNAL|11")

# Memory: who grew
memory("token-server", "m6_token_server.py", "450M", "server", "a service keeps each answer, its client is large and steady", ["main"])
memory("touched", "m6_touched.py", "400M", "worker", "four forked workers write to their copies of a table, page by page", ["main"], what="", not_=["leak"], check={"shared": True})
memory("both-grow", "m6_both_grow.py", "450M", "loader1", "a loader grows, and its parent a tiny bit", ["loader0", "loader2"])
memory("unlinked", "m6_unlinked.py", "400M", "main", "files of /dev/shm have no name any more and are mapped", what="shm|shared|deleted", check={"shared": True})
memory("undrained", "m6_undrained.py", "400M", "main", "a server writes faster than its client reads", ["reader"])
memory("captured", "m6_captured.py", "450M", "launcher", "a launcher keeps all lines of its trainer, which is large and steady", ["trainer"])
memory("goroutines", "m6_goroutines.go", "400M", "main", "goroutines wait for ever and keep their stacks")
memory("backlog", "m6_backlog.rs", "400M", "main", "a channel without a bound and a slow consumer")
memory("listeners", "m6_listeners.js", "450M", "main", "listeners that nobody removes keep their rows")
memory("answers", "m6_answers.c", "400M", "main", "threads wait for ever and keep their stacks")
memory("rank-helper", "m6_rank_helper.py", "500M", "helper1", "a helper of rank 1 grows, the ranks are steady", ["rank0", "rank1", "helper0"], rank=1, nproc=2)
memory("plateau-then", "m6_plateau_then.py", "450M", "scorer", "a cache has grown to its size, a scorer goes on growing", ["cacher", "main"])
memory("third-task", "m6_third_task.sh", "400M", "grower", "the third of six tasks of xargs grows", ["script"])
memory("sorting", "m6_sorting.py", "400M", "sort", "sort keeps what it is given", ["main"])

# Memory: no death by it
well("handover", "m6_handover.py", "450M", "two processes have 230 MiB in turn")
well("dirty-file", "m6_dirty_file.py", "400M", "600 MiB are written to a mapped file")
well("quota", "m6_quota.py", "400M", "a quota of its own, far below the limit", 1, "quota of 200 MiB", "error_exit", ["memory_kill|oom|memory limit"])

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    for name, rows in (("deaths6.json", DEATHS), ("memory6.json", MEMORY)):
        assert len({c["name"] for c in rows}) == len(rows)
        with open(f"{here}/{name}", "w") as f:
            f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in rows) + "\n]\n")
    print({"deaths": len(DEATHS), "memory": len(MEMORY)})
