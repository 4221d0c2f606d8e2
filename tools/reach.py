#!/usr/bin/python3
"""Which tests a change can reach: for `tools/run-tests --changed`.

    reach.py [--root DIR] [REV]      print them, for the changes since REV (default: the last commit, or what is not committed)

Unit tests and fuzz replays are found by the includes of their sources: a header stands for the .c files of its folder that
include it, and for all that those include. End-to-end tests are found by the room that changed (ROOM_TESTS). What no table knows
reaches everything.
"""
import argparse
import fnmatch
import pathlib
import re
import subprocess

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
# Room or folder: end-to-end tests (tests/e2e/test_NAME.py) that go through it. A room that is not named reaches all.
LOOKS = ["stack*", "flame*", "calls", "gil", "interpreters", "python_inside", "oracle", "look_*", "timeline"]
HANGS = ["hang*", "own_ranks", "waits"]
ROOM_TESTS = {
    "stacks": [*LOOKS, "waits"], "python": LOOKS, "native": LOOKS, "inspect": [*LOOKS, "hang*", "guard", "waits"],
    "heap": ["heap_*"], "preload": ["heap_*"], "act/inject": ["heap_attach", "heap_switch"],
    "hang": HANGS, "wait": [*HANGS, "stack*"], "net": HANGS, "framework": [*HANGS, "run_ends", "rules"],
    "rules": ["rules", "hang_book", "run_ends"], "log": ["rules", "hang*", "run_ends"],
    "collective": ["collectives", "nccl_plugin", "ras_places"], "plugins/nccl": ["nccl_plugin"],
    "plugins/python": ["calls"], "gpu": ["gpus*", "hang_gpus"], "notify": ["notify", "metrics"], "metrics": ["metrics"], "share": ["metrics"], "tests/metrics": ["metrics"],
    "memory": ["guard", "run_memory", "watch", "agent", "memprotect", "read"],
    "guard": ["guard", "run_memory", "watch", "agent", "memprotect"],
    "death": ["run_ends", "run_memory", "read", "watch"], "incident": ["run*", "read", "watch", "guard", "hang*", "heap_kills"],
    "store": ["read", "run", "forget", "timeline"], "jobs": ["read", "run", "watch", "own_ranks", "timeline"],
    "rules/": ["rules", "hang_book"],
}


def sources(root):
    return [p for tree in ("src", "preload", "plugins", "tests/unit", "tests/fuzz")
            for p in sorted((root / tree).rglob("*.[ch]"))]


def resolve(root, path, name):
    """The file that an include names: below src/, from the top, or beside the file."""
    for base in (root / "src", root, path.parent, root / "tests/unit"):
        if (base / name).is_file():
            return (base / name).resolve()
    return None


def graph(root):
    """{file: files that it needs}: what it includes, and for a header the .c files that define what it declares."""
    found = {}
    by_header = {}
    for path in sources(root):
        path = path.resolve()
        needs = {resolve(root, path, name) for name in INCLUDE.findall(path.read_text(errors="replace"))} - {None}
        found.setdefault(path, set()).update(needs)
        if path.suffix == ".c":
            for header in needs:
                by_header.setdefault(header, set()).add(path)
    for header, users in by_header.items():
        # a header's functions are defined in its own folder, by one .c that includes it or by several
        found.setdefault(header, set()).update(u for u in users if u.parent == header.parent)
    return found


def closure(graph_of, start):
    seen, todo = set(), [start]
    while todo:
        path = todo.pop()
        if path not in seen:
            seen.add(path)
            todo.extend(graph_of.get(path, ()))
    return seen


# Rooms of src/cli that hold one file a command; what is in the others, all commands use.
COMMAND_ROOMS = ("host", "stacks", "heap", "jobs", "run", "service")


def e2e_of(name):
    """Patterns of end-to-end tests for a changed file; None: all."""
    parts = pathlib.PurePosixPath(name).parts
    if parts[:2] == ("src", "cli"):
        return [f"{pathlib.PurePosixPath(name).stem}*"] if parts[2] in COMMAND_ROOMS else None
    if parts[0] == "src" and len(parts) == 3:
        return None
    for key in ("/".join(parts[:2]), "/".join(parts[1:3]), parts[2] if len(parts) > 3 else "", parts[0]):
        if key in ROOM_TESTS:
            return ROOM_TESTS[key]
    return None


def reach(root, changed):
    """{"unit": {layer/module}, "fuzz": {name}, "e2e": {file} or None for all, "gates": bool} of changed paths."""
    root = root.resolve()
    files = {(root / name).resolve() for name in changed}
    of = graph(root)
    result = {"unit": set(), "fuzz": set(), "e2e": set(), "gates": False}
    for path in sorted((root / "tests/unit").glob("*/test_*.c")):
        if closure(of, path.resolve()) & files:
            result["unit"].add(f"{path.parent.name}/{path.stem[5:]}")
    for path in sorted((root / "tests/fuzz").glob("fuzz_*.c")):
        if closure(of, path.resolve()) & files or any(n.startswith(f"tests/fuzz/corpus/{path.stem[5:]}/") for n in changed):
            result["fuzz"].add(path.stem[5:])
    tests = sorted(p.name for p in (root / "tests/e2e").glob("test_*.py"))
    for name in changed:
        patterns = []
        if name.startswith(("src/", "preload/", "plugins/", "rules/", "share/", "tests/metrics/")):
            patterns = e2e_of(name)
            result["gates"] = True
        elif name.startswith("tests/e2e/test_"):
            patterns = [pathlib.PurePosixPath(name).stem[5:]]
        elif name.startswith(("tests/e2e/", "tests/workloads/", "tests/tool/", "tests/fake/", "meson")):
            patterns = None
        elif name.startswith(("tools/", "tests/tools/")):
            result["gates"] = True
        if patterns is None:
            result["e2e"] = None
        elif result["e2e"] is not None:
            result["e2e"] |= {t for t in tests for p in patterns if fnmatch.fnmatch(t, f"test_{p}.py")}
    return result


def changed_files(root, rev=None):
    """Paths that differ from rev; without one from the last commit, or, if nothing does, from the one before."""
    def git(*args):
        return subprocess.run(["git", "-C", str(root), *args], capture_output=True, text=True, check=True).stdout.split("\0")[:-1]
    since = rev or "HEAD"
    names = git("diff", "--name-only", "-z", since) + git("ls-files", "-z", "--others", "--exclude-standard")
    return names if names or rev else git("diff", "--name-only", "-z", "HEAD~1")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("rev", nargs="?", metavar="REV")
    args = parser.parse_args()
    names = changed_files(args.root, args.rev)
    found = reach(args.root, names)
    print(f"{len(names)} changed: {' '.join(names[:8])}{' …' if len(names) > 8 else ''}")
    print("unit:", " ".join(sorted(found["unit"])) or "none")
    print("fuzz:", " ".join(sorted(found["fuzz"])) or "none")
    print("e2e: ", "all" if found["e2e"] is None else " ".join(sorted(found["e2e"])) or "none")


if __name__ == "__main__":
    main()
