"""libvigil_heap.so inside programs of which it is known what they allocate."""
import collections
import json
import math
import os
import pathlib
import random
import select
import shutil
import subprocess
import sys
import time

import pytest
import regionkit

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("VIGIL", ROOT / "build/src/cli/vigil")).resolve().parents[2]
LIBRARY = BUILD / "preload/libvigil_heap.so"
PATTERNS = BUILD / "tests/e2e/heap/patterns"
SYMBOLS = regionkit.Symbols()
SEEDS = int(os.environ.get("VIGIL_HEAP_SEEDS", 100))
KILLS = int(os.environ.get("VIGIL_HEAP_KILLS", 25))
ORIGINS = ("start", "fork", "exec", "attach")


@pytest.fixture(autouse=True)
def folder(tmp_path):
    (tmp_path / "heap").mkdir()
    return tmp_path / "heap"


def environment(folder, **more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("VIGIL_HEAP", "LD_PRELOAD"))}
    preload = f"{more.pop('before', '')} {LIBRARY} {more.pop('behind', '')}".strip()
    return {**kept, "LD_PRELOAD": preload, "VIGIL_HEAP_DIR": str(folder), **more}


def run(folder, *argv, ok=True, **more):
    done = subprocess.run([str(a) for a in argv], env=environment(folder, **more), capture_output=True, text=True, timeout=120)
    assert not ok or done.returncode == 0, (done.returncode, done.stderr)
    assert not ok or done.stderr == ""
    return done


def told(text):
    """{site: (bytes, blocks)} of what a pattern says it did."""
    return {line.split()[0]: tuple(map(int, line.split()[1:])) for line in text.splitlines()}


def only(folder):
    files = regionkit.regions(folder)
    assert len(files) == 1, files
    return regionkit.Region(files[0])


def sums_agree(region):
    """The sums of stacks and of all are those of the live rows: after an orderly end, exactly."""
    by_stack = region.live_by_stack()
    for number, stack in region.stacks.items():
        assert stack.live.bytes == by_stack.get(number, 0), stack.number
    assert region.live.bytes == sum(by_stack.values())
    assert region.live.samples == len(region.lives) == region.samples - region.frees - region.lost[0]
    assert region.total.bytes == sum(s.total.bytes for s in region.stacks.values())


def deviation(region_sum, exact_bytes):
    """Estimate less truth, in standard errors that the region itself gives."""
    return (region_sum.bytes - exact_bytes) / math.sqrt(1024 * region_sum.variance)


# --- how right it is

def test_estimates_are_unbiased_and_intervals_cover(folder):
    """Over many seeds: sites within 3 sigma, 95 % intervals that hold in 93 to 97 % of cases, no bias."""
    inside = within = cases = 0
    ratios = collections.defaultdict(list)
    for seed in range(1, SEEDS + 1):
        exact = told(run(folder, PATTERNS, "sites", VIGIL_HEAP_SEED=str(seed)).stdout)
        region = only(folder)
        sums_agree(region)
        found = region.by_native(SYMBOLS, exact)
        for site, (size, blocks) in exact.items():
            d = deviation(found[site], size)
            cases += 1
            inside += abs(d) <= 1.96
            within += abs(d) <= 3
            ratios[site].append((found[site].bytes / size, found[site].count_256 / 256 / blocks))
        for file in regionkit.regions(folder):
            file.unlink()
    assert cases == 5 * SEEDS
    assert within / cases >= 0.99, within
    assert 0.93 <= inside / cases <= 0.97, inside / cases
    for site, pairs in ratios.items():
        for values in zip(*pairs):
            mean = sum(values) / len(values)
            error = math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))
            assert abs(mean - 1) < 4 * error + 1e-6, (site, mean, error)


def test_all_that_is_allocated_is_counted_and_all_that_is_freed_is_gone(folder):
    run(folder, PATTERNS, "zero")
    region = only(folder)
    sums_agree(region)
    assert region.lives == [] and region.live == (0, 0, 0, 0)
    assert region.state == 2  # ended in order
    assert not any(region.lost)
    exact = {f"by_{name}": 400 * 40000 for name in (
        "malloc", "calloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc", "mmap")}
    exact["by_realloc"] = 400 * 75000
    exact["failing"] = 400 * (4 << 20)
    exact["by_parts"] = 400 * (10 << 20)
    found = region.by_native(SYMBOLS, exact)
    for site, size in exact.items():
        assert abs(deviation(found[site], size)) < 4.5, (site, found[site], size)
    domains = {s.domain for s in region.stacks.values() if "by_parts" in region.native_names(s, SYMBOLS)}
    assert domains == {"mmap"}


def test_the_exact_sum_of_requests_is_kept(folder):
    exact = told(run(folder, PATTERNS, "sites").stdout)
    region = only(folder)
    requested = sum(size for size, _ in exact.values())
    assert requested - (8 << 20) < region.requested <= requested + (1 << 20)


def test_lifetimes_tell_brief_from_lasting(folder):
    run(folder, PATTERNS, "sites")
    region = only(folder)
    brief = [s for s in region.stacks.values() if "site_brief" in region.native_names(s, SYMBOLS)]
    assert sum(sum(s.freed) for s in brief) == sum(s.total.bytes for s in brief) > 0
    assert sum(s.freed[0] + s.freed[1] + s.freed[2] for s in brief) > 0.9 * sum(sum(s.freed) for s in brief)


def test_peak_is_the_highest_moment(folder):
    run(folder, PATTERNS, "threads")
    region = only(folder)
    sums_agree(region)
    assert region.live.bytes == 0
    peak = sum(s.peak.bytes for s in region.stacks.values())
    assert 200 << 20 < peak < 330 << 20  # 16 threads hold 2,000 blocks of 8 KiB: 250 MiB
    assert peak == pytest.approx(region.peak_bytes, rel=0.1)


def test_a_peak_of_an_instant_is_the_peak(folder, tmp_path):
    """16 MiB in parts, given back, then 32 MiB at once, given back at once: all of it within a tick of the coarse clock."""
    source = tmp_path / "brief.c"
    source.write_text("#include <stdlib.h>\nstatic void *a[16];\n"
                      "__attribute__((noinline)) static void parts(void) { for (int i = 0; i < 16; i++) a[i] = malloc(1 << 20);\n"
                      "for (int i = 0; i < 16; i++) free(a[i]); }\n"
                      "__attribute__((noinline)) static void at_once(void) { void *volatile p = malloc(32 << 20); free(p); }\n"
                      "int main(void) { volatile void *kept = malloc(5 << 20); parts(); at_once(); return kept == 0; }\n")
    subprocess.run(["gcc", "-O1", str(source), "-o", str(tmp_path / "brief")], check=True)
    run(folder, tmp_path / "brief")
    region = only(folder)
    assert region.highest == pytest.approx(37 << 20, rel=0.01)
    stacks = [s for s in region.stacks.values() if s.peak.bytes]
    assert max(s.peak.bytes for s in stacks) == pytest.approx(32 << 20, rel=0.001)
    shown = subprocess.run([str(BUILD / "src/cli/vigil"), "heap", str(region.path), "--what", "peak", "--json"],
                           capture_output=True, text=True)
    told = json.loads(shown.stdout)
    assert told["total"]["low_bytes"] <= 37 << 20 <= told["total"]["high_bytes"], told["total"]
    assert told["stacks"][0]["bytes"] == pytest.approx(32 << 20, rel=0.001), told["stacks"][0]


# --- processes and threads

def test_threads_that_free_what_others_allocated(folder):
    exact = told(run(folder, PATTERNS, "threads").stdout)
    region = only(folder)
    assert region.threads in (16, 17)  # main may have had a sample of its own
    sums_agree(region)
    found = region.by_native(SYMBOLS, exact)["thread_allocates"]
    size = exact["thread_allocates"][0]
    # what was asked for while one of them made the region is not sampled, but counted: nothing is low in silence
    assert abs(region.requested - size) < 17 << 20
    assert abs(found.bytes + region.lost_bytes - size) < 4.5 * math.sqrt((512 << 10) * size)


def test_64_children_each_have_their_own(folder):
    run(folder, PATTERNS, "children", VIGIL_HEAP_SEED="1")  # a block of 4 MiB is missed once in 3,000
    found = [regionkit.Region(f) for f in regionkit.regions(folder)]
    parent = [r for r in found if r.origin == 0]
    assert len(found) == 65 and len(parent) == 1
    for region in found:
        sums_agree(region)
        sums = region.by_native(SYMBOLS, ["in_parent", "in_child"], "live")
        if region is parent[0]:
            assert sums["in_parent"].samples == 16 and sums["in_child"].samples == 0
            continue
        assert ORIGINS[region.origin] == "fork"
        assert (region.ppid, region.parent_start_ticks) == (parent[0].pid, parent[0].start_ticks)
        assert sums["in_parent"].samples == 0 and sums["in_child"].samples == 8


def test_what_a_child_of_vfork_allocates_is_its_parents(folder):
    """It is the parent's memory: what is not freed there, the parent has."""
    run(folder, PATTERNS, "borrower", VIGIL_HEAP_SEED="1")
    region = only(folder)
    sums_agree(region)
    assert region.by_native(SYMBOLS, ["in_parent"])["in_parent"].samples == 16
    assert region.total.samples == 17 and region.live.samples == 16


def test_each_image_after_exec_has_its_own(folder):
    run(folder, PATTERNS, "again", 3, VIGIL_HEAP_SEED="1")
    found = [regionkit.Region(f) for f in regionkit.regions(folder)]
    assert sorted(r.generation for r in found) == [0, 1, 2, 3]
    assert len({(r.pid, r.start_ticks) for r in found}) == 1
    assert all(r.by_native(SYMBOLS, ["in_parent"])["in_parent"].samples == 16 for r in found)


def test_signal_handlers_that_map_memory(folder):
    run(folder, PATTERNS, "signals")
    region = only(folder)
    sums_agree(region)
    assert region.live.bytes == 0


# --- killed

def test_after_any_kill_the_five_largest_are_known(folder):
    rng, names = random.Random(11), [f"rank_{k}" for k in range(1, 6)]
    exact = dict(zip(names, (mib << 20 for mib in (64, 45, 32, 22, 16))))
    wrong = []
    for trial in range(KILLS):
        # at this rate the nearest two are seven standard deviations apart
        with subprocess.Popen([str(PATTERNS), "five"], env=environment(folder, VIGIL_HEAP_RATE="16384"), stdout=subprocess.PIPE) as p:
            assert select.select([p.stdout], [], [], 60)[0]
            time.sleep(rng.uniform(0, 0.03))  # the instant is what is tried, nothing waits for it
            p.kill()
            p.wait()
        region = only(folder)
        live = region.by_native(SYMBOLS, names, "live")
        if sorted(live, key=lambda k: -live[k].bytes) != names:
            wrong.append((trial, live))
        for name in names:
            assert abs(live[name].bytes - exact[name]) < 6 * math.sqrt(16384 * exact[name]) + (1 << 20), (trial, name, live[name])
        next(iter(regionkit.regions(folder))).unlink()
    assert not wrong


def test_a_kill_at_any_instant_leaves_it_whole(folder):
    rng = random.Random(5)
    wrong = []
    for trial in range(KILLS):
        with subprocess.Popen([str(PATTERNS), "victim"], env=environment(folder), stdout=subprocess.PIPE) as p:
            late = trial % 2 == 0
            if late:
                assert select.select([p.stdout], [], [], 60)[0]
            time.sleep(rng.uniform(0, 0.05))  # the instant is what is tried, nothing waits for it
            p.kill()
            p.wait()
        for file in regionkit.regions(folder):
            if not any(file.read_bytes()[:8]):
                assert not late  # killed while it was made, before or after it had its size
            else:
                region = regionkit.Region(file)
                assert region.state == 1
                by_stack = region.live_by_stack()
                # Each thread can have been between two additions.
                assert abs(region.live.bytes - sum(by_stack.values())) <= 4 << 20
                for s in region.stacks.values():
                    names = region.native_names(s, SYMBOLS)
                    assert set(names) & {"first", "second", "third", "victim", "main", "growing"} or "?" in names or not names
                if late:
                    live = region.by_native(SYMBOLS, ["first", "second", "third"], "live")
                    total = region.by_native(SYMBOLS, ["first", "second", "third"])
                    top = sorted(live, key=lambda k: -live[k].bytes)
                    wrong += [(trial, live)] if top != ["first", "second", "third"] else []
                    assert total["third"].bytes > total["first"].bytes
            file.unlink()
    assert not wrong


# --- Python

PY = """
import sys
def leaf(n):
    return bytearray(n)
class Maker:
    def keep(self):
        return [leaf(20000) for _ in range(5000)]
def aside():
    for i in range(3000):
        leaf(30000)
def deep(n):
    return deep(n - 1) if n else Maker().keep()
kept = deep(int(sys.argv[1]))
aside()
print(len(kept))
import os; os._exit(0)
"""


def pythons_here():
    sys.path.insert(0, str(ROOT / "tests"))
    import pythons
    return pythons.find()


@pytest.mark.parametrize("python", pythons_here(), ids=str)
def test_python_frames_of_every_version(python, tmp_path):
    script = tmp_path / "heapscript.py"
    script.write_text(PY)
    placed = python.place(script)
    inside = pathlib.Path(python.outside(placed)).parent
    library, folder = inside / "libvigil_heap.so", inside / "heap"
    if python.chroot:
        shutil.copyfile(LIBRARY, library)
    else:
        library = LIBRARY
    folder.mkdir(exist_ok=True)
    seen = str(library).removeprefix(python.chroot or "")
    argv = python.argv[2:] if python.chroot else python.argv
    env = python.env(VIGIL_HEAP_DIR=str(folder).removeprefix(python.chroot or ""), LD_PRELOAD=seen)
    try:
        done = subprocess.run([*argv, placed, "10"], env=env, capture_output=True, text=True, timeout=60,
                              preexec_fn=(lambda: os.chroot(python.chroot)) if python.chroot else None, cwd="/")
        assert (done.returncode, done.stdout, done.stderr) == (0, "5000\n", "")
        region = only(folder)
    finally:
        python.unplace(placed)
    assert region.python_why == 0
    assert region.python_version >> 16 == python.version[0] << 8 | python.version[1]
    exact = {"keep": 5000 * 20000, "aside": 3000 * 30000}
    found = region.by_python(exact)
    for name, size in exact.items():
        assert abs(deviation(found[name], size)) < 5, (name, found)
    live = region.by_python(exact, "live")
    # All of it but what the list was before it grew.
    assert 0.95 * found["keep"].bytes <= live["keep"].bytes <= found["keep"].bytes and live["aside"].bytes < 1 << 20
    kept = max((s for s in region.stacks.values()), key=lambda s: s.live.bytes)
    frames = region.python_frames(kept)
    names = [f[0] for f in frames]
    if "<listcomp>" in names[1] or names[1].endswith("<listcomp>"):
        del names[1], frames[1]  # a frame of its own before 3.12
    prefix = "Maker." if python.version >= (3, 11) else ""
    assert names == ["leaf", prefix + "keep", *["deep"] * 11, "<module>"]
    assert {f[1] for f in frames} == {placed}
    assert frames[-1][4]  # the interpreter was entered for it
    assert all(f[3] >= 0 for f in frames)


def test_python_objects_are_counted_on_request(folder):
    script = "def objects():\n return [(i, [i]) for i in range(400000)]\nkept = objects()\nimport os; os._exit(0)\n"
    run(folder, "/usr/bin/python3", "-c", script, VIGIL_HEAP_OBJECTS="1")
    region = only(folder)
    sums_agree(region)
    assert region.objects == 1
    found = {d: sum(s.live.bytes for s in region.stacks.values() if s.domain == d) for d in regionkit.DOMAINS}
    assert found["mmap_python"] == 0
    live = region.by_python(["objects"], "live")["objects"]
    # Of each: a tuple of two with its head, a list, its one item; and the long list. 56 + 56 + 16 to 32 + 3.4 MB.
    assert 45e6 < live.bytes < 75e6, (live, found)
    assert found["object"] > found["malloc"]


def test_python_that_forks_workers(folder):
    script = """
import multiprocessing, os
def work(i):
    def held():
        return [bytearray(1 << 20) for _ in range(20)]
    keep = held()
    return os.getpid()
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(4) as pool:
        print(len(pool.map(work, range(16))))
"""
    file = folder.parent / "pool.py"
    file.write_text(script)
    assert run(folder, "/usr/bin/python3", file).stdout == "16\n"
    workers = [r for r in map(regionkit.Region, regionkit.regions(folder)) if r.origin == 1]
    assert 1 <= len(workers) <= 4
    assert sum(r.by_python(["held"])["held"].bytes for r in workers) == pytest.approx(16 * 20 << 20, rel=0.1)


# --- switching on and off

def test_dormant_until_it_is_switched_on_by_one_store(folder):
    with subprocess.Popen([str(PATTERNS), "lines"], env=environment(folder, VIGIL_HEAP_RATE="0"), text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        def step(text):
            if text:
                p.stdin.write(text)
                p.stdin.flush()
            assert select.select([p.stdout], [], [], 60)[0]
            p.stdout.readline()
            return only(folder)
        assert step(None).total.samples == 0
        region = step("go\n")
        assert region.total.samples == 0 and region.rate == 0
        regionkit.poke_rate(region.path, 524288)
        region = step("go\n")
        assert abs(deviation(region.by_native(SYMBOLS, ["site_brief"])["site_brief"], 128 << 20)) < 5
        before = region.total.samples
        regionkit.poke_rate(region.path, 0)
        assert step("go\n").total.samples <= before + 1
        p.stdin.close()


def test_the_control_file_switches_on_what_comes_later(folder):
    (folder / "control").write_bytes(b"VIGILTL1" + (1 << 20).to_bytes(8, "little"))
    run(folder, PATTERNS, "sites", VIGIL_HEAP_RATE="0")
    region = only(folder)
    assert region.rate == 1 << 20 and region.total.samples > 300


# --- other allocators, other tools

def library(name):
    return next(iter(sorted(pathlib.Path("/usr/lib").glob(f"*-linux-gnu/{name}*"))), None)


@pytest.mark.parametrize("order", ["before", "behind"])
@pytest.mark.parametrize("name", ["libjemalloc.so.2", "libmimalloc.so.2"])
def test_with_another_allocator(folder, name, order):
    other = library(name)
    if not other:
        pytest.skip(f"{name} is not installed")
    exact = told(run(folder, PATTERNS, "sites", VIGIL_HEAP_SEED="1", **{order: str(other)}).stdout)
    if order == "before":
        # Its malloc is found first: nothing comes through ours, and its own mappings are what is seen.
        region = only(folder)
        seen = {s.domain: 0 for s in region.stacks.values()}
        for s in region.stacks.values():
            seen[s.domain] += s.total.bytes
        assert {domain for domain, size in seen.items() if size} == {"mmap"}, seen
        # what it mapped holds what the sites kept, in pieces of its own
        kept = sum(size for site, (size, _) in exact.items() if site != "site_brief")
        assert 0.5 * kept < seen["mmap"] < 2 * kept, (seen, exact)
        return
    region = only(folder)
    sums_agree(region)
    assert region.allocator.split("/")[-1].startswith(name.split(".")[0])
    found = region.by_native(SYMBOLS, exact)
    for site, (size, _) in exact.items():
        assert abs(deviation(found[site], size)) < 4.5, (site, found[site], size)
    total = sum(s.total.bytes for s in region.stacks.values())
    assert total == pytest.approx(sum(size for size, _ in exact.values()), rel=0.15)  # its mappings are not counted again
    # All its functions; pvalloc is libc's where jemalloc is in front, and free is not, with us and without us.
    (folder / "x").mkdir()
    # With a seed: what glibc keeps for the next thread (its vector of thread-local storage, 320 bytes) may be met by chance.
    run(folder / "x", PATTERNS, "zero" if "mimalloc" in name else "threads", behind=str(other), VIGIL_HEAP_SEED="1")
    assert only(folder / "x").live.bytes == 0


def test_a_static_program_is_left_alone(folder):
    assert told(run(folder, BUILD / "tests/e2e/heap/patterns_static", "sites").stdout)
    assert list(folder.iterdir()) == []


def test_under_valgrind(folder):
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    done = subprocess.run(["valgrind", "-q", "--error-exitcode=9", "--trace-children=no", str(PATTERNS), "again", "0"],
                          env=environment(folder), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("kind", ["address", "thread", "static-address"])
def test_with_sanitizers(folder, kind, tmp_path):
    source = tmp_path / "a.c"
    source.write_text("#include <stdlib.h>\nvoid *volatile kept;\nint main(void) { for (int i = 0; i < 1000; i++) "
                      "{ void *volatile p = malloc(30000); free(p); } return 0; }\n")
    more = ["-static-libasan"] if kind.startswith("static") else []
    built = subprocess.run(["gcc", "-g", f"-fsanitize={kind.split('-')[-1]}", *more, str(source), "-o", str(tmp_path / "a")],
                           capture_output=True)
    if built.returncode:
        pytest.skip("this compiler has no such sanitizer")
    done = run(folder, tmp_path / "a", ASAN_OPTIONS="verify_asan_link_order=0", ok=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_cxx_new_is_malloc(folder, tmp_path):
    source = tmp_path / "a.cc"
    source.write_text("#include <vector>\n#include <stdexcept>\nstd::vector<int *> kept;\n"
                      "__attribute__((noinline)) void by_new() { for (int i = 0; i < 30000; i++) kept.push_back(new int[1000]); }\n"
                      "int main() { by_new(); for (auto p : kept) delete[] p; kept.clear(); kept.shrink_to_fit();\n"
                      "try { throw std::runtime_error(\"x\"); } catch (std::exception &) { return 0; } return 1; }\n")
    for more in ([], ["-static-libstdc++", "-static-libgcc"]):
        if subprocess.run(["g++", "-O1", *more, str(source), "-o", str(tmp_path / "a")], capture_output=True).returncode:
            pytest.skip("no C++ compiler")
        run(folder, tmp_path / "a")
        region = only(folder)
        names = regionkit.Symbols()  # another file of the same name
        found = sum(s.total.bytes for s in region.stacks.values()
                    if any("by_new" in n for n in region.native_names(s, names)))
        assert found == pytest.approx(120e6 + 2**19, rel=0.3)
        assert sum(1 for l in region.lives if l.size == 4000) == 0
        region.path.unlink()


# --- no place

def silent(folder, **more):
    done = run(folder, PATTERNS, "zero", **more)
    assert done.stdout == "each 16000000 400\n"


def test_without_a_directory_nothing_happens(folder):
    silent(folder / "missing")
    silent(folder, VIGIL_HEAP_DIR="relative")
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")
def test_on_a_full_or_read_only_file_system(folder):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=384k", "tmpfs", str(folder)], check=True)
    try:
        silent(folder)  # a header fits, not all tables
        region = only(folder)
        assert region.lost[1] > 0
        (folder / "fill").write_bytes(bytes(os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize))
        silent(folder)
        assert [p.name.rsplit(".", 1)[1] for p in folder.glob("*.off-*")] == ["off-3"]
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        silent(folder)
        assert len(regionkit.regions(folder)) == 1
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_limit_on_files_costs_the_profile_only(folder):
    done = subprocess.run([sys.executable, "-c", f"""
import os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # what the kernel answers a file larger than allowed with
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
os.environ["LD_PRELOAD"] = {str(LIBRARY)!r}
os.execl({str(PATTERNS)!r}, "patterns", "threads")"""], env=environment(folder) | {"LD_PRELOAD": ""}, capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0 and done.stdout.startswith("thread_allocates"), done
    assert regionkit.regions(folder) == []


# --- code that was loaded a moment ago

LATE_LIBRARY = """
#include <stdlib.h>
__attribute__((noinline)) void *late_take(void) { void *p = malloc(24 << 20); __asm__ volatile("" ::: "memory"); return p; }
"""
LATE_PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	void *volatile first = malloc(8 << 20); /* reads the mappings */
	void *l = dlopen(argv[1], RTLD_NOW | (argc > 3 ? RTLD_DEEPBIND : 0));
	void *(*take)(void) = (void *(*)(void))dlsym(l, "late_take");
	void *volatile p = take();
	if (argv[2][0] == 'w') {
		puts("ready");
		fflush(stdout);
		pause();
	}
	if (argv[2][0] == 'q')
		_exit(0);
	return !first || !p;
}
"""


@pytest.fixture
def late(tmp_path):
    (tmp_path / "late.c").write_text(LATE_LIBRARY)
    (tmp_path / "program.c").write_text(LATE_PROGRAM)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "late.c", "-o", "liblate.so"], cwd=tmp_path, check=True)
    subprocess.run(["gcc", "-O1", "program.c", "-o", "program", "-ldl"], cwd=tmp_path, check=True)
    return [tmp_path / "program", tmp_path / "liblate.so"]


def names_of_largest(region_or_pid):
    shown = subprocess.run([str(BUILD / "src/cli/vigil"), "heap", str(region_or_pid), "--json"], capture_output=True,
                           text=True, timeout=60)
    stacks = json.loads(shown.stdout)["stacks"]
    return [f["name"] for f in stacks[0]["frames"]]


@pytest.mark.parametrize("how", ["exit", "quick"])
def test_a_library_loaded_just_before_the_end_is_named(folder, late, how):
    run(folder, *late, how)
    names = names_of_largest(only(folder).path)
    assert "late_take" in names and "[code of no file]" not in names


def test_a_library_that_asked_once_and_went_quiet_is_named_while_it_runs(folder, late):
    p = subprocess.Popen([*map(str, late), "wait"], env=environment(folder), stdout=subprocess.PIPE, text=True)
    try:
        assert p.stdout.readline() == "ready\n"
        names = names_of_largest(p.pid)
        assert "late_take" in names and "[code of no file]" not in names
    finally:
        p.kill()
        p.wait()
