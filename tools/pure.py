#!/usr/bin/python3
"""Gate: judge and model compute; they do not look at the world. And what the guard runs never allocates, nor waits for
a process: nothing in agent/guard reads what takes the memory lock of another process.

    pure.py --archive judge=PATH --archive model=PATH --archive base=PATH ...

For each object of the judge and model archives the undefined symbols must be on the list below, or be
defined by judge, model or a pure object of base. Then everything reachable from the objects named
guard*.o and victim*.o (of judge/memory) is checked again without the allocating functions.
Exit status 1 names the object and the symbol.
"""
import argparse
import pathlib
import re
import subprocess
import sys

# Functions of libc that compute and nothing else.
PURE = set("""
memcpy memmove memset memcmp bcmp memchr memrchr memmem mempcpy
strlen strnlen strcmp strncmp strcasecmp strncasecmp strchr strrchr strchrnul strstr strcasestr strspn strcspn strpbrk
stpcpy stpncpy snprintf vsnprintf bsearch abs labs llabs
floor ceil round lround llround trunc fabs fmin fmax sqrt pow exp exp2 log log2 log10 log1p expm1 fmod frexp ldexp
strsignal sigabbrev_np sigdescr_np strerror strerrorname_np strerrordesc_np gmtime_r timegm
""".split())
# These may allocate (qsort does for large arrays), so not on the guard's path.
ALLOCATING = set("malloc calloc realloc reallocarray free strdup strndup asprintf vasprintf qsort".split())
# What the compiler and its checkers put in.
COMPILER = re.compile(
    r"^(__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|__assert_fail|__errno_location|abort|__ctype_\w+_loc|__isoc(99|23)_\w+"
    r"|__(mem|str|stp|snprintf|vsnprintf)\w*_chk|__isnan|__isinf|__popcountdi2|__udivti3|__umodti3|__tls_get_addr"
    r"|__(asan|ubsan|lsan|tsan|msan|sanitizer|sancov|gcov|llvm_profile|llvm_gcov)_\w+|__(start|stop)___sancov_\w+"
    r"|_?asan\.module_\w+|__cov_\w+)$")
# The objects of base that touch the world; the rest of base is pure.
BASE_WORLDLY = {"clock", "dynlib", "file", "log", "loop", "random"}
# Look-ups in a sample that live beside its reader; they touch nothing but their arguments.
SENSE_PURE = {"tasks_find", "rule_extract_name", "gpu_reason_name", "waitfacts_process", "waitfacts_thread", "waitfact_kind_name",
              "wake_kind_of"}
# What takes the memory lock of the process that is read: it may not come back for seconds, or at all.
LOCKING = re.compile(r"\b(proc_(command|environ|auxv|rollup|io)_read|procsize\w*_read|pss_read|remote_\w+|process_vm_readv)\b"
                      r"|/(cmdline|environ|auxv|maps|smaps|smaps_rollup|numa_maps|mem|pagemap)\"")
GUARD = re.compile(r"^(memory_)?(guard|victim)\w*$")
CHECKED = ("model", "judge")


def symbols(archive):
    """{object: (undefined, defined)} of an archive, thin or not."""
    out = subprocess.run(["nm", "--format=posix", archive], text=True, capture_output=True, check=True).stdout
    objects, current = {}, None
    for line in out.splitlines():
        head = re.match(r"^.*\[(.*)\]:$", line)
        if head:
            # meson names an object after its source: "guard.c.o"
            current = re.sub(r"\.c\.o$|\.o$", "", head.group(1).rsplit("/", 1)[-1])
            objects[current] = (set(), set())
            continue
        fields = line.split()
        if len(fields) >= 2 and current:
            undefined, defined = objects[current]
            if fields[1] in ("U", "w", "v"):
                undefined.add(fields[0])
            elif fields[1].isupper() or fields[1] == "u":
                defined.add(fields[0])
    return objects


def reachable(start, by_symbol, objects):
    """Objects that the start may call into, object by object."""
    seen, todo = set(), list(start)
    while todo:
        key = todo.pop()
        if key in seen:
            continue
        seen.add(key)
        for symbol in objects[key][0]:
            if symbol in by_symbol:
                todo.append(by_symbol[symbol])
    return seen


def check(archives):
    objects = {(layer, name): value for layer, path in archives.items() for name, value in symbols(path).items()}
    by_symbol = {symbol: key for key, (_, defined) in objects.items() for symbol in defined
                 if key[0] in CHECKED or (key[0] == "base" and key[1] not in BASE_WORLDLY)}
    problems = []
    for (layer, name), (undefined, _) in sorted(objects.items()):
        if layer not in CHECKED:
            continue
        for symbol in sorted(undefined):
            if not (symbol in PURE | ALLOCATING | SENSE_PURE or COMPILER.match(symbol) or symbol in by_symbol):
                problems.append(f"{layer}/{name}.c uses {symbol}: {layer} is pure (no clock, no system call, no stream)")
    guards = [key for key in objects if key[0] == "judge" and GUARD.match(key[1])]
    for layer, name in sorted(reachable(guards, by_symbol, objects)):
        for symbol in sorted(objects[layer, name][0] & ALLOCATING):
            problems.append(f"{layer}/{name}.c uses {symbol}, and the guard's path runs through it: it may not allocate")
    return problems


def check_room(root):
    """Files of the guard that would wait for a process."""
    for path in sorted((root / "src/agent/guard").glob("*.c")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = LOCKING.search(line)
            if found:
                yield f"{path.relative_to(root)}:{number}: {found.group(0)} waits for the process that it reads; the guard may not"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--archive", action="append", required=True, metavar="LAYER=PATH")
    archives = dict(a.split("=", 1) for a in parser.parse_args().archive)
    missing = [layer for layer in CHECKED if layer not in archives]
    if missing:
        parser.error(f"no archive given for {', '.join(missing)}")
    problems = check(archives) + list(check_room(pathlib.Path(__file__).resolve().parents[1]))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
