"""Ranks that a Python program starts out of itself have their numbers wherever a job's processes are listed."""
import json
import shutil
import subprocess
import sys

import pytest

from conftest import wait_for, workload

RANKS = 3
WAYS = ("fork", "spawn", "itself")


@pytest.fixture
def begun(vigil):
    """begun(by): a job of RANKS that all do steps; gives what was started."""
    def start(by, steps=400):
        return vigil.start("run", "--", *workload("hangs", "slow", "--at", 1, "--steps", steps, "--spawn", RANKS, "--by", by),
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return start


def processes_of_stacks(vigil):
    told = vigil("stack", "last", "--json")
    return told.json()["processes"] if told.status == 0 else []


def ranks_of_stacks(vigil):
    return sorted(p["rank"] for p in processes_of_stacks(vigil) if p["role"] == "main" and "rank" in p)


def ranks_of_flame(vigil, path):
    told = vigil("flame", "last", "-d", 1, "-f", "json", "-o", path)
    return {lane["rank"] for lane in json.loads(path.read_text())["lanes"] if "rank" in lane} if told.status == 0 else set()


@pytest.mark.parametrize("by", WAYS)
def test_stack_flame_and_mem_know_them(vigil, begun, tmp_path, by):
    begun(by)
    wait_for(lambda: ranks_of_stacks(vigil) == list(range(RANKS)), 30, "the ranks")
    assert ranks_of_flame(vigil, tmp_path / "f.json") == set(range(RANKS))
    lines = [json.loads(line) for line in vigil("mem", "last", "--json").out.splitlines()]
    processes = [p for line in lines for p in line.get("processes", [])]
    assert {p.get("rank") for p in processes} >= set(range(RANKS)), lines


ACTORS = """
import multiprocessing, time

def act(rank, results):
    while True:
        results.put(rank)
        time.sleep(0.01)

if __name__ == "__main__":
    results = multiprocessing.Queue()
    for rank in range(3):
        multiprocessing.Process(target=act, args=(rank, results), daemon=True).start()
    for step in range(100000):
        results.get()
        if step % 100 == 0:
            print(f"step {step}", flush=True)
"""


def test_actors_beside_a_learner_are_no_ranks(vigil, tmp_path):
    """They have a rank each, but it is their parent that trains."""
    program = tmp_path / "learner.py"
    program.write_text(ACTORS)
    vigil.start("run", "--", sys.executable, "-u", program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(processes_of_stacks(vigil)) >= 4, 20, "the actors")
    for _ in range(3):
        assert all("rank" not in p and p["role"] != "launcher" for p in processes_of_stacks(vigil))


SELF_NAMED = """
import multiprocessing, os, time

def train(which):
    os.environ["RANK"] = str(which)
    while True:
        time.sleep(0.1)

if __name__ == "__main__":
    some = [multiprocessing.Process(target=train, args=(n,)) for n in range(3)]
    [p.start() for p in some]
    [p.join() for p in some]
"""


def test_a_variable_that_a_rank_sets_itself_is_its_number(vigil, tmp_path):
    """/proc/PID/environ does not have it."""
    program = tmp_path / "self_named.py"
    program.write_text(SELF_NAMED)
    vigil.start("run", "--", sys.executable, program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: ranks_of_stacks(vigil) == [0, 1, 2], 30, "the ranks")


# A program in C, whose children set their number after fork(2), and no size. Its parent waits for them, or works.
FORKED = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	volatile double x = 1;
	for (int rank = 0; rank < 3; rank++)
		if (fork() == 0) {
			char text[8];
			prctl(PR_SET_PDEATHSIG, 9);
			snprintf(text, sizeof(text), "%d", rank);
			setenv("RANK", text, 1);
			for (;;)
				usleep(100000);
		}
	while (argc > 1) {
		for (int k = 0; k < 1000000; k++)
			x = x * 0.5 + k;
		usleep(10000);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
"""


@pytest.fixture
def forked(tmp_path):
    (tmp_path / "forked.c").write_text(FORKED)
    subprocess.run(["cc", "-O1", "-o", tmp_path / "forked", tmp_path / "forked.c"], check=True)
    return tmp_path / "forked"


def test_children_that_set_rank_alone_are_ranks_if_their_parent_waits(vigil, forked):
    vigil.start("run", "--", forked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: ranks_of_stacks(vigil) == [0, 1, 2], 30, "the ranks")


def test_children_that_set_rank_alone_are_none_if_their_parent_works(vigil, forked):
    vigil.start("run", "--", forked, "work", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(processes_of_stacks(vigil)) >= 4, 20, "the children")
    for _ in range(3):
        assert all("rank" not in p and p["role"] != "launcher" for p in processes_of_stacks(vigil))


# The parent adds up for its children, which are the ranks: they have set the variables of a launcher themselves.
HUB = """
import multiprocessing, os, subprocess, sys, time

def train(number, up, down):
    os.environ.update(RANK=str(number), WORLD_SIZE="3")
    helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    while True:
        time.sleep(0.1)
        up.put(number)
        down.get()

if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    up, down = context.Queue(), [context.Queue() for _ in range(3)]
    for number in range(3):
        if "{by}" == "fork":
            if os.fork() == 0:
                train(number, up, down[number])
        else:
            context.Process(target=train, args=(number, up, down[number]), daemon=True).start()
    while True:
        for _ in down:
            up.get()
        for one in down:
            one.put(0)
"""


@pytest.mark.parametrize("by", ("fork", "multiprocessing"))
def test_children_that_set_rank_and_world_size_are_ranks_whatever_their_parent_does(vigil, tmp_path, by):
    program = tmp_path / "hub.py"
    program.write_text(HUB.replace("{by}", by))
    vigil.start("run", "--", sys.executable, program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: ranks_of_stacks(vigil) == [0, 1, 2], 30, "the ranks")
    helpers = [p for p in processes_of_stacks(vigil) if p["role"] == "helper"]
    assert sorted(p.get("rank") for p in helpers) == [0, 1, 2], helpers


BY_OPTION = """
import subprocess, sys, time
if "--rank" in sys.argv:
    while True:
        time.sleep(0.1)
some = [subprocess.Popen([sys.executable, __file__, "--rank", str(n), "--world-size", "3"]) for n in range(3)]
{then}
"""
WAITS = "[p.wait() for p in some]"
# The parent trains: the others serve it, whatever their number is called.
TRAINS = """
for step in range(100000):
    sum(range(20000))
    if step % 100 == 0:
        print(f"step {step}", flush=True)
"""


def test_a_launcher_of_ones_own_gives_the_number_as_an_option(vigil, tmp_path):
    program = tmp_path / "launch.py"
    program.write_text(BY_OPTION.format(then=WAITS))
    vigil.start("run", "--", sys.executable, program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: ranks_of_stacks(vigil) == [0, 1, 2], 30, "the ranks")


def test_a_shell_starts_them_in_a_loop(vigil, tmp_path):
    program = tmp_path / "train.py"
    program.write_text("import time\nwhile True: time.sleep(0.1)\n")
    loop = f"for r in 0 1 2; do {sys.executable} {program} --rank=$r & done; wait"
    vigil.start("run", "--", "bash", "-c", loop, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: ranks_of_stacks(vigil) == [0, 1, 2], 30, "the ranks")


# The numbers have names of the program's own, and the launcher naps between two looks at its children.
BY_VARIABLE = """
import os, subprocess, sys, time
if len(sys.argv) > 1 or "WORKER_ID" in os.environ:
    while True:
        time.sleep(0.1)
some = {start}
while any(p.poll() is None for p in some):
    time.sleep(0.3)
"""
STARTS = {
    "variable": "[subprocess.Popen([sys.executable, __file__], env=dict(os.environ, WORKER_ID=str(n), NUM_WORKERS='3')) for n in range(3)]",
    "place": "[subprocess.Popen([sys.executable, __file__, str(n), '3']) for n in range(3)]",
    "option": "[subprocess.Popen([sys.executable, __file__, f'--part={n}', '--parts', '3']) for n in range(3)]",
    "folds": "[subprocess.Popen([sys.executable, __file__, f'--fold={n}', '--folds', '3']) for n in range(3)]",
    "name": "[subprocess.Popen([sys.executable, __file__, '--worker', str(n)]) for n in range(3)]",
    "no size": "[subprocess.Popen([sys.executable, __file__, f'--run={n}']) for n in range(3)]",
}


@pytest.mark.parametrize("how", ["variable", "place", "option", "name"])
def test_programs_side_by_side_that_differ_in_one_number_are_ranks(vigil, tmp_path, how):
    program = tmp_path / "launch.py"
    program.write_text(BY_VARIABLE.format(start=STARTS[how]))
    vigil.start("run", "--", sys.executable, program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def ranks_below_a_launcher():
        told = processes_of_stacks(vigil)
        ranks = sorted(p["rank"] for p in told if p["role"] == "main" and "rank" in p)
        return ranks == [0, 1, 2] and [p["role"] for p in told].count("launcher") == 1
    wait_for(ranks_below_a_launcher, 30, "the ranks and their launcher")


# Nothing but plain numbers, as those of a sweep are, but each is connected with the one before it.
LINKED = """
import socket, subprocess, sys, time
if len(sys.argv) > 1:
    n, door = int(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))
    while True:
        time.sleep(0.1)
pairs = [socket.socketpair() for _ in range(2)]
ends = [pairs[0][0], pairs[0][1], pairs[1][1]]
some = []
for n, end in enumerate(ends):
    also = [pairs[1][0]] if n == 1 else []
    fds = [e.fileno() for e in [end, *also]]
    some.append(subprocess.Popen([sys.executable, __file__, str(n), str(fds[0])], pass_fds=fds))
[e.close() for pair in pairs for e in pair]
[p.wait() for p in some]
"""


def test_programs_with_plain_numbers_that_are_connected_are_ranks(vigil, tmp_path):
    program = tmp_path / "launch.py"
    program.write_text(LINKED)
    vigil.start("run", "--", sys.executable, program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: ranks_of_stacks(vigil) == [0, 1, 2], 30, "the ranks")


# The same for functions that multiprocessing runs, whatever their arguments are called.
BY_ARGUMENT = """
import multiprocessing, time

def work({number}, queue, {size}):
    while True:
        time.sleep(0.1)

if __name__ == "__main__":
    context = multiprocessing.get_context("{by}")
    queue = context.Queue()
    some = [context.Process(target=work, args=(n, queue, {value})) for n in range(3)]
    [p.start() for p in some]
    [p.join() for p in some]
"""


@pytest.mark.parametrize("by", ["fork", "spawn"])
def test_functions_side_by_side_that_were_called_with_numbers_are_ranks(vigil, tmp_path, by):
    program = tmp_path / "start.py"
    program.write_text(BY_ARGUMENT.format(number="wid", size="n_workers", value=3, by=by))
    vigil.start("run", "--", sys.executable, program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: ranks_of_stacks(vigil) == [0, 1, 2], 30, "the ranks")


@pytest.mark.parametrize("number, size, value", [("wid", "n_items", 7), ("seed", "n_seeds", 3), ("wid", "epochs", 3)])
def test_other_numbers_of_functions_make_no_ranks(vigil, tmp_path, number, size, value):
    program = tmp_path / "start.py"
    program.write_text(BY_ARGUMENT.format(number=number, size=size, value=value, by="fork"))
    vigil.start("run", "--", sys.executable, program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(processes_of_stacks(vigil)) >= 4, 20, "the workers")
    for _ in range(3):
        assert all("rank" not in p for p in processes_of_stacks(vigil))


@pytest.mark.parametrize("how", ["folds", "no size"])
def test_a_sweep_has_no_ranks(vigil, tmp_path, how):
    program = tmp_path / "launch.py"
    program.write_text(BY_VARIABLE.format(start=STARTS[how]))
    vigil.start("run", "--", sys.executable, program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(processes_of_stacks(vigil)) >= 4, 20, "the trials")
    for _ in range(3):
        assert all("rank" not in p for p in processes_of_stacks(vigil))


def test_who_trains_itself_has_no_ranks_below_it(vigil, tmp_path):
    program = tmp_path / "learner.py"
    program.write_text(BY_OPTION.format(then=TRAINS))
    vigil.start("run", "--", sys.executable, "-u", program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: len(processes_of_stacks(vigil)) >= 4, 20, "the actors")
    for _ in range(3):
        assert all("rank" not in p and p["role"] != "launcher" for p in processes_of_stacks(vigil))


@pytest.mark.parametrize("by", WAYS)
def test_the_timeline_has_a_lane_for_each(vigil, begun, tmp_path, by):
    p = begun(by, steps=120)
    assert vigil.finish(p, 60).status == 0
    path = tmp_path / "t.json"
    assert vigil("timeline", "last", "-o", path).status == 0
    events = json.loads(path.read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    lanes = {e["args"]["name"].split(" (")[0] for e in events if e.get("ph") == "M" and "name" in e.get("args", {})}
    assert lanes >= {f"rank {r}" for r in range(RANKS)}, lanes


def test_of_hundreds_of_ranks_each_is_listed_once(vigil, tmp_path):
    program = shutil.copy("/bin/sleep", tmp_path / "trainer")
    start = f"r=0; while [ $r -lt 280 ]; do RANK=$r WORLD_SIZE=280 {program} 300 & r=$((r + 1)); done; wait"
    vigil.start("run", "--hang-after", "0", "--", "sh", "-c", start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def listed():
        rows = [json.loads(line) for line in vigil("ps", "last", "--json").out.splitlines()]
        known = {p.get("rank") for p in rows if "started_unix_ms" in p}  # the supervisor has seen them, too
        return rows if known >= set(range(280)) else None
    rows = wait_for(listed, 60, "all ranks to be seen")
    assert len({p["pid"] for p in rows}) == len(rows)


# Two runs of Ray Train on one node, as their processes and files look from outside (Ray 2.60): both have a rank 0 and a rank 1.
TRAIN = """
import json, os, subprocess, sys
logs = sys.argv[1]
os.makedirs(f"{logs}/train")
workers = []
for n, (run, rank) in enumerate([("first", 0), ("first", 1), ("second", 0), ("second", 1)]):
    worker = f"{n + 1:056x}"
    line = {"message": "x", "world_rank": rank, "local_rank": rank, "run_name": run}
    with open(f"{logs}/train/ray-train-sys-worker-{worker}.log", "w") as log:
        log.write(json.dumps(line) + "\\n")
    with open(f"{logs}/worker-{worker}-01000000-{n + 1}.out", "w") as out:
        workers.append(subprocess.Popen(["ray::RayTrainWorker", "300"], executable="/bin/sleep", stdout=out))
for w in workers:
    w.wait()
"""


def test_ranks_of_two_runs_of_ray_train_stand_with_their_run(vigil, tmp_path):
    vigil.start("run", "--", sys.executable, "-c", TRAIN, str(tmp_path / "session" / "logs"), stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)

    def told():
        rows = [json.loads(line) for line in vigil("ps", "last", "--json").out.splitlines()]
        return sorted((p["ray"]["train_run"], p["ray"]["train_rank"]) for p in rows if "train_run" in p.get("ray", {}))
    both = [("first", 0), ("first", 1), ("second", 0), ("second", 1)]
    wait_for(lambda: told() == both, 30, "the four workers")
    table = [line.split() for line in vigil("ps", "last").out.decode().splitlines() if "ray::" in line]
    assert sorted((row[row.index("run") + 1], row[2]) for row in table) == [(f"{run}:", str(rank)) for run, rank in both]
