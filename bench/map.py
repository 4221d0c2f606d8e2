#!/usr/bin/python3
"""vigil map beside GNU parallel and xargs.

    bench/map.py tiny [--tasks N=10000] [--rounds N=5]     many tasks that do nothing: tasks a second
    bench/map.py memory [--mem MIB=3072] [--rounds N=3] [--bag numbers|files] [--needs mixed|loaders|trainers|builders] [--jobs N=12] [--grow MIB=200] [--memfree SIZE…]
                                                           a bag that needs much more memory than there is: time to the end
    bench/map.py killed [--trials N=100]                   the runner is killed at random and resumed: is every task run?

Prints one JSON object a line, and a table at the end. tiny: the programs take turns in each round, and the numbers are medians.
memory: tasks grow by so many MiB a second to what they need; with --bag files the inputs are files of that size. In a machine
of --mem (box.sh; root, lxcfs), beside each of the settings of parallel that --memfree names (its manual has no advice for that; of
--memsuspend it says the size of a task, so the largest one is 1200M); a task that did not end well is lost. Before that it says
which time no scheduler can go below, and which one would take that knows all of all tasks beforehand. VIGIL is the program (build/src/cli/vigil).
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
VIGIL = os.environ.get("VIGIL", str(ROOT / "build/src/cli/vigil"))
HEADER = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand"

# Grows at so many MiB/s to the size of its input (with GROW_BY computing: by as much work as that takes at this rate), works on
# that for HOLD_S, says how much it was.
GROW = """
import sys, time
import os
def spend(how, s):
    end = time.process_time() + s
    while how == "computing" and time.process_time() < end:
        sum(range(10000))
    time.sleep(s if how == "sleeping" else 0)
need, held = os.path.getsize(sys.argv[1]) >> 20 if "/" in sys.argv[1] else int(sys.argv[1]), []
while need > 50 * len(held):
    held.append(b"x" * (min(50, need - 50 * len(held)) << 20)); spend(os.environ["GROW_BY"], 50 / int(os.environ["GROW_MIB_PER_S"]))
spend(os.environ["HOLD_BY"], float(os.environ["HOLD_S"])); print(need)
"""
# Sizes in MiB, seeded. mixed: most fit many times into 3 GiB, some twice. loaders: few fit at once, and they wait more than they grow.
# trainers: as loaders, but they compute on what they hold; builders: they compute as they grow, too, so that what is ended before its
# time has cost a processor.
LARGE = (300, 400, 500, 600, 800, 1000, 1200)
BAGS = {"mixed": (30, (100, 150, 200, 300, 300, 400, 600, 900, 1200), 2, "sleeping", "sleeping"), "loaders": (20, LARGE, 4, "sleeping", "sleeping"),
        "trainers": (20, LARGE, 3, "sleeping", "computing"), "builders": (20, LARGE, 3, "computing", "computing")}


def bag_of(args):
    """What each task needs, and how long it then works on that."""
    tasks, sizes, hold_s, grow_by, hold_by = BAGS[args.needs]
    rng = random.Random(args.seed)
    os.environ.update(HOLD_S=str(hold_s), GROW_BY=grow_by, HOLD_BY=hold_by)
    return [rng.choice(sizes) for _ in range(tasks)], hold_s


def environment(state):
    env = dict(os.environ, VIGIL_STATE_DIR=str(state / "state"), PARALLEL_HOME=str(state / "parallel"))
    (state / "parallel").mkdir(exist_ok=True)
    (state / "parallel/will-cite").touch()
    return env


def say(**row):
    print(json.dumps(row), flush=True)
    return row


def timed(command, inputs, env, out):
    begun = time.monotonic()
    cpu = os.times()
    done = subprocess.run(command, input=inputs, stdout=out, stderr=subprocess.PIPE, env=env, check=False)
    spent = os.times()
    return time.monotonic() - begun, spent.children_user + spent.children_system - cpu.children_user - cpu.children_system, done


# ---- many tasks that do nothing ----

def tiny(args, state):
    cores = str(len(os.sched_getaffinity(0)))
    inputs = "".join(f"{i}\n" for i in range(args.tasks)).encode()
    programs = {
        "vigil map": [VIGIL, "map", "-j", cores, "/bin/echo"], "vigil map -k --joblog": [VIGIL, "map", "-j", cores, "-k", "--joblog", str(state / "log"), "/bin/echo"],
        "xargs -P": ["xargs", "-P", cores, "-n1", "/bin/echo"], "parallel": ["parallel", "-j", cores, "/bin/echo"],
    }
    rates = collections.defaultdict(list)
    for n in range(args.rounds):
        for name, command in programs.items():
            if name == "parallel" and n >= max(args.rounds // 2, 1):
                continue  # it takes minutes
            few = inputs if name != "parallel" else b"".join(inputs.splitlines(True)[:max(args.tasks // 5, 1)])
            tasks = few.count(b"\n")
            with open(state / "out", "w+b") as out:
                wall, cpu, done = timed(command, few, environment(state), out)
                out.seek(0)
                lines = len(out.read().splitlines())
            assert done.returncode == 0 and lines == tasks, (name, done, lines)
            rates[name].append(tasks / wall)
            say(what="tiny", program=name, tasks=tasks, wall_s=round(wall, 3), cpu_s=round(cpu, 3), rate=round(tasks / wall))
    ours = statistics.median(rates["vigil map"])
    print("\n| program | tasks a second | vigil map against it |\n|---|---|---|")
    for name, found in rates.items():
        median = statistics.median(found)
        print(f"| {name} | {median:.0f} | {ours / median:.2f} |")


# ---- a bag that does not fit into memory ----

def box_kills():
    group = os.environ["BOX_CGROUP"]
    for name in ("memory.oom_control", "memory.events"):
        for line in (pathlib.Path(group) / name).read_text().splitlines() if (pathlib.Path(group) / name).exists() else []:
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def memory_inside(args, state):
    """In the box: the runners and their tasks live under its limit."""
    needs, _ = bag_of(args)
    os.environ["GROW_MIB_PER_S"] = str(args.grow)
    task = [sys.executable, "-S", "-c", GROW]
    quoted = f"{sys.executable} -S {state / 'grow.py'}"
    (state / "grow.py").write_text(GROW)
    jobs = ["-j", str(args.jobs)]
    programs = {"vigil map": [VIGIL, "map", *jobs, *task]}
    for free in args.memfree:
        programs[f"parallel --memfree {free}"] = ["parallel", *jobs, "--memfree", free, "--retries", "50", quoted]
    lines = [str(n) for n in needs]
    if args.bag == "files":
        for i, n in enumerate(needs):
            lines[i] = str(state / f"input-{i}")
            with open(lines[i], "wb") as sparse:
                sparse.truncate(n << 20)
    inputs = "".join(f"{x}\n" for x in lines).encode()
    group = os.environ["BOX_CGROUP"]
    for n in range(args.rounds):
        for name, command in programs.items():
            log, before = state / f"log-{n}-{abs(hash(name))}", box_kills()
            at = command.index("map") + 1 if "map" in command else 1
            inside = ["sh", "-c", f'echo 0 > {group}/cgroup.procs; exec "$@"', "sh", *command[:at], "--joblog", str(log), *command[at:]]
            with open(state / "out", "w+b") as out:
                wall, cpu, done = timed(inside, inputs, environment(state), out)
                out.seek(0)
                ended = collections.Counter(int(x) for x in out.read().split())
            lost = sum((collections.Counter(needs) - ended).values())
            say(what="memory", program=name, wall_s=round(wall, 2), cpu_s=round(cpu, 2), status=done.returncode, lost=lost,
                twice=sum((ended - collections.Counter(needs)).values()), kernel_kills=box_kills() - before)


def course(need, hold_s, grow):
    """What a task holds in each tenth of a second of its life, as GROW has it."""
    return [min(need, 50 * (int(i * grow / 500) + 1)) for i in range(round((need / grow + hold_s) * 10))]


def earliest(order, courses, room, places):
    """Seconds to the end if each task in turn starts as early as it fits, all being known of all, no more than so many at once."""
    used, running, end = [0] * 20000, [0] * 20000, 0
    for i in order:
        at, c = 0, courses[i]
        while any(used[at + k] + m > room or running[at + k] >= places for k, m in enumerate(c)):
            at += 1
        for k, m in enumerate(c):
            used[at + k] += m
            running[at + k] += 1
        end = max(end, at + len(c))
    return end / 10


def bounds(args):
    """What no scheduler can do better, and what one does that knows each task's memory in each moment before it starts."""
    needs, hold_s = bag_of(args)
    courses, rng = [course(n, hold_s, args.grow) for n in needs], random.Random(1)
    orders = [range(len(needs)), sorted(range(len(needs)), key=lambda i: -needs[i]), *(rng.sample(range(len(needs)), len(needs)) for _ in range(50))]
    if os.environ["HOLD_BY"] == "sleeping":
        ends = [earliest(order, courses, args.mem, args.jobs) for order in orders]
        known = {"all_known_in_order_s": ends[0], "all_known_best_of_52_orders_s": min(ends)}
    else:
        works = len(needs) * hold_s + (sum(needs) / args.grow if os.environ["GROW_BY"] == "computing" else 0)
        known = {"processors_s": round(works / len(os.sched_getaffinity(0)), 1)}
    say(what="bound", needs=args.needs, area_s=round(sum(map(sum, courses)) / 10 / args.mem, 1), longest_s=max(map(len, courses)) / 10,
        places_s=round(sum(map(len, courses)) / 10 / args.jobs, 1), **known)


def memory(args, state):
    if not os.environ.get("BOX_CGROUP"):
        bounds(args)
    if os.environ.get("BOX_CGROUP"):
        memory_inside(args, state)
        return
    command = [str(ROOT / "bench/box.sh"), "--mem", str(args.mem), "--", sys.executable, __file__, "memory", "--rounds", str(args.rounds),
               "--bag", args.bag, "--needs", args.needs, "--seed", str(args.seed), "--jobs", str(args.jobs), "--grow", str(args.grow), "--memfree", *args.memfree]
    rows = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as box:
        for line in box.stdout:
            print(line, end="", flush=True)
            if line.startswith("{"):
                rows.append(json.loads(line))
    walls = collections.defaultdict(list)
    for row in rows:
        walls[row["program"]].append(row)
    if not walls.get("vigil map"):
        sys.exit("nothing was measured")
    ours = statistics.median(r["wall_s"] for r in walls["vigil map"])
    print("\n| program | seconds to the end | vigil map is faster by | tasks lost | killed by the kernel |\n|---|---|---|---|---|")
    for name, found in walls.items():
        median = statistics.median(r["wall_s"] for r in found)
        print(f"| {name} | {median:.1f} | {median / ours:.2f} | {sum(r['lost'] for r in found)} | {sum(r['kernel_kills'] for r in found)} |")


# ---- the runner is killed ----

def log_rows(path):
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    assert not lines[0] or HEADER.startswith(lines[0]), lines[0]
    return [line.split("\t") for line in lines[1:-1]]


def killed(args, state):
    """Each task locks a file, and notes its start and its end: never twice at once, and to the end."""
    rng, n = random.Random(args.seed), args.trials * 3
    script = ('exec 9>>{}.lock; flock -n 9 || { echo twice > twice; exit 9; }; echo b >> {}.ran; sleep 0.0{}; '
              '(sleep 0.01; echo e >> {}.ran) & wait')
    command = [VIGIL, "map", "-j4", "--joblog", "log", "--resume", "--quiet", "sh", "-c", script, ":::", *(str(1000 + i) for i in range(n))]
    kills = 0
    while kills < args.trials:
        process = subprocess.Popen(command, cwd=state, env=environment(state), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.0, 0.12))  # the moment of the kill is what is random here
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    last = subprocess.run(command, cwd=state, env=environment(state), stdin=subprocess.DEVNULL, check=False, capture_output=True)
    rows = log_rows(state / "log")
    whole = sum((state / f"{1000 + i}.ran").read_text().split()[-2:] == ["b", "e"] for i in range(n))
    say(what="killed", kills=kills, tasks=n, status=last.returncode, lines=len(rows), once=len({r[0] for r in rows}) == len(rows) == n,
        to_the_end=whole, twice_at_once=(state / "twice").exists())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tiny", "memory", "killed"])
    parser.add_argument("--tasks", type=int, default=10000)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--mem", type=int, default=3072)
    parser.add_argument("--bag", choices=["numbers", "files"], default="numbers")
    parser.add_argument("--needs", choices=list(BAGS), default="mixed")
    parser.add_argument("--grow", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--memfree", nargs="+", default=["300M", "600M", "1200M"])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=45)
    args = parser.parse_args()
    args.rounds = args.rounds or {"tiny": 5, "memory": 3, "killed": 1}[args.what]
    state = pathlib.Path(tempfile.mkdtemp(prefix="vigil-bench-map."))
    try:
        {"tiny": tiny, "memory": memory, "killed": killed}[args.what](args, state)
    finally:
        shutil.rmtree(state, ignore_errors=True)


if __name__ == "__main__":
    main()
