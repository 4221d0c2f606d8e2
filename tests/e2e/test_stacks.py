"""Native stacks: of programs whose stacks are known, and rows of call frame information against readelf's."""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import time

import pytest

from conftest import end_tree, wait_for

REGISTERS = {name: n for n, name in enumerate(
    "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 ra".split())}
RUNNING, STUCK, GONE, BUSY = 42, 41, 3, 40


@pytest.fixture(scope="module")
def native(binary):
    """The folder of the built test programs."""
    return binary.parents[2] / "tests/e2e/native"


class Target:
    """A program whose functions and thread are known."""

    def __init__(self, argv):
        self.process = subprocess.Popen(list(map(str, argv)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.functions, self.tids = [], []
        self.await_line("ready")

    def await_line(self, wanted):
        for line in self.process.stdout:
            words = line.split()
            if words[0] == "function":
                self.functions.append((int(words[2], 16), words[1]))
            elif words[0] == "tid":
                self.tids.append(int(words[1]))
            elif line.strip() == wanted:
                self.functions.sort()
                return
        pytest.fail(f"the program ended before it said {wanted}")

    def name(self, address):
        below = [f for f in self.functions if f[0] <= address]
        return below[-1][1] if below and address - below[-1][0] < 400 else "?"

    def end(self):
        end_tree(self.process)
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(20)


@pytest.fixture
def target(native):
    started = []

    def start(kind, *args):
        program = native / f"stacktarget_{kind}" if "/" not in str(kind) else kind
        started.append(Target([program, *args]))
        return started[-1]
    yield start
    for one in started:
        one.end()


@pytest.fixture
def look(native):
    """A tool that samples one thread each time it is called: (end, names innermost first)."""
    started = []

    def start(target, how="take", tid=None):
        tool = subprocess.Popen([str(native / "stacktool"), "stack", str(target.process.pid),
                                 str(tid or target.tids[-1]), how],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(tool)

        def once():
            tool.stdin.write("\n")
            tool.stdin.flush()
            words = tool.stdout.readline().split()
            if words[0] == "failed":
                return int(words[1]), int(words[2])
            frames = [w for w in words[1:] if w != "beyond"]
            return words[0], [target.name(int(w.rstrip("!"), 16) - (not w.endswith("!"))) for w in frames]
        return once
    yield start
    for tool in started:
        tool.kill()
        tool.communicate()


def blocked(target, tid=None):
    """Waits until the thread waits."""
    pid = target.process.pid
    path = pathlib.Path(f"/proc/{pid}/task/{tid or target.tids[-1]}/stat")
    wait_for(lambda: path.read_text().rpartition(")")[2].split()[0] in "SDT", what="the thread to wait")


def known(names):
    return [name for name in names if name != "?"]


CHAIN = ["stand", "ready", "level_c", "level_b", "level_a"]
PROGRAMS = {
    ("chain",): CHAIN,
    ("deep", 200): CHAIN + ["deep"] * 201,
    ("changing",): CHAIN + ["changing", "to_changing"],
    ("aligned",): CHAIN + ["aligned", "to_aligned"],
    ("sorting",): CHAIN + ["compare", "sorting"],
    ("signal",): CHAIN + ["on_signal", "interrupted", "signalled"],
    ("thread",): CHAIN + ["thread_first"],
    ("nowhere",): CHAIN + ["on_signal", "nowhere"],
    ("unwindable",): CHAIN + ["unwindable"],
}


@pytest.mark.parametrize("kind", ["dynamic", "static"])
@pytest.mark.parametrize("how", ["take", "blocked"])
@pytest.mark.parametrize("args", PROGRAMS, ids=lambda a: a[0])
def test_a_known_stack_is_found_whole(target, look, kind, how, args):
    program = target(kind, *args)
    blocked(program)
    end, names = look(program, how)()
    assert known(names) == PROGRAMS[args]
    assert end == "complete"


def caught(once):
    """Its next stack that was taken while it ran: it has no processor at every moment, and on a crowded machine not for long."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        end, names = once()
        if end not in (RUNNING, STUCK):
            return end, names
        time.sleep(0.0002)
    pytest.fail("the thread was never met on its processor")


@pytest.mark.parametrize("args", PROGRAMS, ids=lambda a: a[0])
def test_a_running_thread_is_stopped_and_its_stack_is_whole(target, look, args):
    program = target("dynamic", *args, *([64] if len(args) == 1 else []), "busy")
    once = look(program)
    wait_for(lambda: known(caught(once)[1]) == PROGRAMS[args], what="the loop to begin")
    for _ in range(50):
        end, names = caught(once)
        assert (end, known(names)) == ("complete", PROGRAMS[args])


@pytest.fixture(scope="module")
def catching(native):
    """Skips where nobody can be caught."""
    program = Target([native / "stacktarget_dynamic", "chain", 64, "busy"])
    tool = subprocess.Popen([native / "stacktool", "stack", str(program.process.pid), str(program.tids[-1]), "catch"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    deadline, answer = time.monotonic() + 10, "failed"
    while answer.startswith("failed") and time.monotonic() < deadline:
        time.sleep(0.001)
        tool.stdin.write("\n")
        tool.stdin.flush()
        answer = tool.stdout.readline()
    tool.communicate()
    program.end()
    if answer.startswith("failed"):
        pytest.skip("no thread can be caught while it runs: it takes CAP_BPF, CAP_PERFMON, Linux 5.17 with BTF, x86_64")


@pytest.mark.parametrize("args", PROGRAMS, ids=lambda a: a[0])
def test_a_running_thread_is_caught_without_being_stopped(target, look, catching, args):
    program = target("dynamic", *args, *([64] if len(args) == 1 else []), "busy")
    once = look(program, "catch")
    wait_for(lambda: known(caught(once)[1]) == PROGRAMS[args], what="the loop to begin")
    for _ in range(50):
        end, names = caught(once)
        assert (end, known(names)) == ("complete", PROGRAMS[args])


def test_every_instruction_of_libc_has_a_way_out_of_an_instant_too(target, look, catching):
    program = target("dynamic", "working")
    once = look(program, "catch")
    for _ in range(1000):
        end, names = caught(once)
        assert end == "complete", names
        assert [n for n in known(names) if n != "stand"][-3:] == ["working", "work_b", "work_a"]


def test_a_stripped_program_without_section_table_is_unwound_by_its_segments(target, look, native, tmp_path):
    copy = tmp_path / "stripped"
    shutil.copy(native / "stacktarget_dynamic", copy)
    subprocess.run(["strip", copy], check=True)
    image = bytearray(copy.read_bytes())
    image[40:48] = bytes(8)  # e_shoff
    image[60:64] = bytes(4)  # e_shnum, e_shstrndx
    copy.write_bytes(image)
    program = target(copy, "sorting")
    blocked(program)
    assert look(program)()[0] == "complete"
    assert known(look(program)()[1]) == CHAIN + ["compare", "sorting"]


def test_frame_pointers_serve_where_there_is_no_information(target, look):
    program = target("pointers", "deep", 50)
    blocked(program)
    end, names = look(program)()
    assert known(names)[-56:] == CHAIN[-5:] + ["deep"] * 51
    assert end in ("complete", "no-info")


def test_every_instruction_of_libc_has_a_way_out(target, look):
    program = target("dynamic", "working")
    once = look(program)
    for _ in range(3000):
        end, names = caught(once)
        assert end == "complete", names
        assert [n for n in known(names) if n != "stand"][-3:] == ["working", "work_b", "work_a"]


def test_a_thread_that_cannot_stop_costs_the_deadline_and_goes_on_after(target, look):
    program = target("dynamic", "vfork")
    blocked(program, program.process.pid)
    once = look(program)
    for _ in range(3):
        result, took_us = once()
        assert result == STUCK
        assert 50_000 <= took_us < 1_000_000
    status = pathlib.Path(f"/proc/{program.process.pid}/status").read_text()
    assert "TracerPid:\t0\n" in status
    assert known(look(program, "blocked")()[1])[0] == "forked"
    program.process.stdin.close()
    program.await_line("done")
    assert program.process.wait(20) == 0


def test_what_was_stopped_by_signal_stays_stopped(target, look):
    program = target("dynamic", "chain")
    pid = program.process.pid
    blocked(program)
    os.kill(pid, signal.SIGSTOP)
    stat = pathlib.Path(f"/proc/{pid}/stat")
    wait_for(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T")
    once = look(program)
    for _ in range(5):
        assert known(once()[1]) == CHAIN
        wait_for(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T")
    assert known(look(program, "blocked")()[1]) == CHAIN
    os.kill(pid, signal.SIGCONT)
    program.process.stdin.close()
    program.await_line("done")


def test_signals_that_arrive_meanwhile_are_delivered(target, look):
    program = target("dynamic", "working")
    once = look(program)
    for _ in range(200):
        once()
    os.kill(program.process.pid, signal.SIGTERM)
    for _ in range(200):
        if once()[0] == GONE:
            break
    assert program.process.wait(20) == -signal.SIGTERM


def test_a_thread_that_ended_is_gone(target, look):
    program = target("dynamic", "chain")
    take, peek = look(program), look(program, "blocked")
    program.process.kill()
    program.process.wait()
    assert take()[0] == GONE
    assert peek()[0] == GONE


def test_a_thread_traced_by_another_is_busy_but_can_be_looked_at(target, look):
    gdb = shutil.which("gdb")
    if not gdb:
        pytest.skip("gdb is not installed")
    program = target("dynamic", "chain")
    blocked(program)
    debugger = subprocess.Popen([gdb, "-q", "-nx", "-p", str(program.process.pid)], stdin=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        status = pathlib.Path(f"/proc/{program.process.pid}/status")
        wait_for(lambda: "TracerPid:\t0\n" not in status.read_text(), what="gdb to attach")
        assert look(program)()[0] == BUSY
        peek = look(program, "blocked")
        assert wait_for(lambda: known((peek()[1:] or [[]])[0] or []) == CHAIN if peek()[0] == "complete" else None)
    finally:
        debugger.kill()
        debugger.communicate()


def test_a_frame_that_cannot_be_proven_is_not_guessed(target, look):
    program = target("dynamic", "unproven")
    blocked(program)
    end, names = look(program, "blocked")()
    assert (end, known(names)) == ("no-info", CHAIN + ["changing"])
    assert look(program)()[0] == "complete"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="hand-written x86_64 code")
@pytest.mark.parametrize("kind", ["lying", "silent"])
def test_code_that_lies_or_is_silent_about_its_stack_is_seen_through(target, look, kind):
    once = look(target("dynamic", kind))
    wait_for(lambda: known(once()[1])[:1] == [kind], what="the loop to begin")
    for _ in range(50):
        end, names = once()
        assert (end, known(names)) == ("complete", [kind, f"to_{kind}"])


def test_a_running_thread_is_not_taken_for_a_blocked_one(target, look):
    program = target("dynamic", "chain", 64, "busy")
    assert look(program, "blocked")()[0] == RUNNING


@pytest.fixture
def freezer():
    """A group of the v1 freezer."""
    top = pathlib.Path("/sys/fs/cgroup/freezer")
    if not (top / "cgroup.procs").exists() or os.geteuid() != 0:
        pytest.skip("no v1 freezer that we may use")
    group = top / f"vigil-test-{os.getpid()}"
    group.mkdir()
    yield group
    (group / "freezer.state").write_text("THAWED")
    for pid in (group / "cgroup.procs").read_text().split():
        (top / "cgroup.procs").write_text(pid)
    group.rmdir()


@pytest.mark.parametrize("args", [a for a in PROGRAMS if a[0] != "thread"], ids=lambda a: a[0])
def test_a_frozen_thread_is_looked_at_as_it_is(target, look, freezer, args):
    program = target("dynamic", *args)
    blocked(program)
    (freezer / "cgroup.procs").write_text(str(program.process.pid))
    (freezer / "freezer.state").write_text("FROZEN")
    wait_for(lambda: (freezer / "freezer.state").read_text().strip() == "FROZEN")
    result, took_us = look(program)()
    assert result == STUCK and took_us < 1_000_000
    end, names = look(program, "blocked")()
    assert (end, known(names)) == ("complete", PROGRAMS[args])


def test_a_thread_frozen_while_it_worked_is_looked_at_too(target, look, freezer):
    program = target("dynamic", "chain", 64, "busy")
    once = look(program)
    wait_for(lambda: known(once()[1]) == CHAIN, what="the loop to begin")
    (freezer / "cgroup.procs").write_text(str(program.process.pid))
    (freezer / "freezer.state").write_text("FROZEN")
    wait_for(lambda: (freezer / "freezer.state").read_text().strip() == "FROZEN")
    end, names = look(program, "blocked")()
    assert (end, known(names)) == ("complete", CHAIN)


# --- rows against readelf's ---

def rule_of(text, line):
    if text in ("u", "s"):
        return None
    if re.fullmatch(r"[cv][+-]\d+", text) or text in ("exp", "vexp"):
        return text
    assert re.fullmatch(r"r\d+", text), (text, line)
    return text


def functions_of(path):
    """(start, end, [(from, cfa, {register: rule})]) of each function, as readelf understands them."""
    out = subprocess.run(["readelf", "--debug-dump=frames-interp", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, check=False)  # warns about missing debug files, and fails then
    commons, found, rows, columns, lo, hi = {}, [], None, None, 0, 0
    for line in out.stdout.splitlines():
        if entry := re.match(r"([0-9a-f]{8,16}) [0-9a-f]{16} [0-9a-f]{8,16} CIE", line):
            rows = commons[int(entry[1], 16)] = []
        elif entry := re.match(r".* FDE cie=([0-9a-f]+) pc=([0-9a-f]+)\.\.([0-9a-f]+)", line):
            lo, hi = int(entry[2], 16), int(entry[3], 16)
            rows = []
            found.append((lo, hi, rows, commons[int(entry[1], 16)]))
        elif line.startswith("   LOC"):
            columns = line.split()[2:]
        elif rows is not None and re.match(r"[0-9a-f]{16} ", line):
            at, cfa, *rules = re.sub(r"\br(\d+) \(\w+\)", r"r\1", line).split()
            rows.append((int(at, 16), cfa, {c: rule_of(t, line) for c, t in zip(columns, rules)}))
    return [(lo, hi, rows or [(lo, *common[0][1:])]) for lo, hi, rows, common in found if hi > lo]


def answer_of(cfa, rules):
    if cfa != "exp":
        name, offset = re.fullmatch(r"(\w+)([+-]\d+)", cfa).groups()
        cfa = f"{REGISTERS[name]}{offset}"
    return cfa, {REGISTERS[c]: r for c, r in rules.items() if r}


def libraries():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        mapped = {line.split(maxsplit=5)[5].strip() for line in maps if "/" in line}
    named = {"libc": "libc.so.6", "libpython": "libpython3", "libm": "libm.so.6"}
    found = {label: next((p for p in sorted(mapped) if name in p), None) for label, name in named.items()}
    found["libstdc++"] = next(iter(pathlib.Path("/usr/lib").glob("*-linux-gnu/libstdc++.so.6")), None)
    found["python"] = os.path.realpath("/usr/bin/python3")
    return found


@pytest.mark.parametrize("label", ["libc", "libm", "libpython", "libstdc++", "python"])
def test_rows_are_those_of_readelf(native, label):
    path = libraries()[label]
    if not path:
        pytest.skip(f"no {label} here")
    functions = functions_of(path)
    rng = random.Random(label)
    asked = {}
    for lo, hi, rows in rng.sample(functions, min(len(functions), 2000)):
        for i, (start, cfa, rules) in enumerate(rows):
            end = rows[i + 1][0] if i + 1 < len(rows) else hi
            if end > start:
                for at in {start, rng.randrange(start, end), end - 1}:
                    asked[at] = answer_of(cfa, rules)
    addresses = "\n".join(f"{at:x}" for at in asked)
    out = subprocess.run([native / "stacktool", "rows", path], input=addresses, capture_output=True, text=True,
                         check=True).stdout.splitlines()
    assert len(out) == len(asked) > 2000
    wrong = []
    for line, (at, (cfa, rules)) in zip(out, asked.items()):
        words = [w for w in line.split() if w != "S"]
        got = {int(r): v for r, v in (w.split("=") for w in words[2:])} if words[1] != "none" else {}
        got = {r: v for r, v in got.items() if v != "u"}
        if (int(words[0], 16), words[1], got) != (at, cfa, rules):
            wrong.append((line, cfa, rules))
    assert not wrong[:5], f"{len(wrong)} of {len(asked)} rows differ"
