"""What is true of programs16/deaths; as a program it writes deaths16.json. ../check_deaths.py holds
the programs to it."""
import json
import os

import cases6_deaths
from cases6_deaths import KILLED, NEEDS, SENDER

HERE = "{here}/programs16/deaths/"
CASES = []
LOST = "EOF|reset|[Bb]roken pipe|closed"
ABORT = "SIGABRT|[Aa]bort"


def death(name, run, leaves, why, about, killer="none", kind=("error_exit",), signal=None, sender=None, rank=None,
          not_=(), shallow=(), needs=(), **more):
    """As in cases6_deaths.py."""
    words, suffix = cases6_deaths.command(run, HERE)
    truth = {"killer": killer, "kind": list(kind), "signal": signal, "sender": sender, "rank": rank, "why": [why],
             "not": list(not_)}
    if shallow:
        truth["shallow"] = list(shallow)
    check = {"exit": leaves, **{k: more.pop(k) for k in ("last", "early") if k in more}}
    if "outside" in more:
        more["outside"] = ["{python}", SENDER, *more["outside"].split()]
    CASES.append({"name": "d16-" + name, "class": "death", "run": words,
                  "needs": NEEDS.get(suffix, []) + list(needs), "about": about, "truth": truth, "check": check, **more})


def crash(name, run, signal, why, about, **more):
    more = {"killer": ["none", "kernel"], "kind": ("crash",), **more}
    death(name, run, -signal, why, about, **more, signal=signal)


BOTH = {"kind": ("error_exit", "crash")}

# Errors that a program tells
death("state-size", "d16_state_size.py", 1, r"size mismatch|head\.weight", "a head of another size is in the checkpoint",
      shallow=("RuntimeError|cannot load",), not_=(r"ema\.",))
death("lambda", "d16_lambda.py", 1, "[Pp]ickle|lambda", "a lambda is given to a spawned process")
death("version", "d16_version.py", 1, r"fasttok|0\.19\.0|0\.15\.2", "a package of another version",
      shallow=("RuntimeError|could not set up the backend",))
death("rate-text", "d16_rate_text.py", 1, "TypeError|not supported between", "a rate is a text, and is compared")
death("empty-val", "d16_empty_val.py", 1, "ZeroDivision|division by zero", "a validation set is empty")
death("group", "d16_group.py", 1, "PermissionError|Permission denied|api_token", "a task of a group may not read its token",
      shallow=("ExceptionGroup|unhandled errors",), needs=["tomllib"])
death("noise", "d16_noise.py", 1, "KeyError|label_ids", "a missing column, long after a thread's other error",
      not_=("reset by peer|ConnectionReset",))
death("usage", "d16_usage.py", 2, "unrecognized arguments|num_beams", "an evaluation does not know its option",
      shallow=("usage",))
death("struct", "d16_struct.py", 1, r"struct\.error|buffer of 16", "a worker's header is cut off, main tells its status",
      shallow=("RuntimeError|worker 1 left",))
death("directory", "d16_directory.py", 1, "IsADirectory|[Ii]s a directory", "a checkpoint's name is a folder",
      shallow=("AttributeError|no attribute 'step'",))
death("module", "d16_module.sh", 1, "flash_norm_kernels|ModuleNotFound", "a step of a script lacks a module")
death("gzip", "d16_gzip.sh", 1, "unexpected end", "a shard was cut off")
death("not-executable", "d16_not_executable.sh", 126, "Permission denied|not executable", "a script without its mode",
      shallow=(r"\b126\b",))
death("wait-n", "d16_wait_n.sh", 1, "more than 1 sample|ValueError", "a worker of a script fails",
      shallow=("a worker has failed",))
death("undefined", "d16_undefined.js", 1, "of undefined|vocab", "a tokenizer's file lacks its model",
      shallow=("TypeError",))
death("asleep", "d16_asleep.go", 2, "all goroutines are asleep|deadlock", "Go finds that nobody could send", **BOTH)
death("join", "d16_join.rs", 101, "has no samples|shard 4", "a thread panics, main unwraps its end", **BOTH,
      shallow=("unwrap|Any",))
death("static-init", "d16_static_init.java", 1, "NumberFormat|64k", "a class cannot be set up",
      shallow=("ExceptionInInitializer",))

# Crashes and signals
crash("double-free", "d16_double_free.c", 6, "double free", "a batch is freed twice", shallow=(ABORT,))
crash("divide", "d16_divide.c", 8, "SIGFPE|[Dd]ivi|[Ff]loating|[Aa]rithmetic", "an integer is divided by 0")
crash("range", "d16_range.cpp", 6, "range_check|out_of_range", "a token is larger than the vocabulary", shallow=(ABORT,))
crash("no-join", "d16_no_join.cpp", 6, "without an active exception|[Tt]erminate", "a thread was not joined",
      shallow=(ABORT,))
crash("trap", "d16_trap.c", 4, "SIGILL|[Ii]llegal", "an instruction that the processor does not have")
crash("faulthandler", "d16_faulthandler.py", 11, "SIGSEGV|[Ss]egmentation", "a crash with Python's own stacks",
      last="Segmentation fault")
death("sigpipe", "d16_sigpipe.c", -13, "SIGPIPE|[Bb]roken pipe", "a child has left, a write ends the parent",
      killer=["none", "kernel", "signal"], kind=("killed_by", "crash", "error_exit"), signal=13, last="")
death("hangup", "d16_hangup.py", -1, "SIGHUP", "somebody sends SIGHUP", killer="signal", kind=KILLED, signal=1,
      sender="outsider", outside="main HUP", last="")
death("alarm", "d16_alarm.py", -14, "SIGALRM|[Aa]larm", "an alarm was not switched off",
      killer=["signal", "kernel", "none"], kind=("killed_by", "crash", "error_exit"), signal=14, sender="kernel", last="")

# Ranks
death("rank-file", "d16_rank_file.py", 1, "FileNotFound|No such file|train-00001", "rank 1's shard is not there", rank=1,
      nproc=3, kind=("error_exit", "peer_lost"), shallow=(LOST,))
death("rank-killed", "d16_rank_killed.py", -9, "SIGKILL", "somebody kills rank 1", rank=1, nproc=3, killer="signal",
      kind=("killed_by",), signal=9, sender="outsider", outside="rank1 KILL", shallow=(LOST,), last="")

# A good end
death("good", "d16_good.py", 0, "", "a batch was too large and was halved, a file was left out", kind=("clean_exit",),
      last="training complete", not_=("out of memory", r"extra\.bin"))

if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    assert len({c["name"] for c in CASES}) == len(CASES)
    with open(here + "/deaths16.json", "w") as f:
        f.write("[\n" + ",\n".join(" " + json.dumps(c, ensure_ascii=False) for c in CASES) + "\n]\n")
    print({"deaths": len(CASES)})
