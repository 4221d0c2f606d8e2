#!/usr/bin/python3
"""Gate: includes go down the layers and the rooms only, and each foreign library is used by one .c.

    layers.py [--root DIR]

A room is a folder of a layer; a file may include headers of its own room and of the rooms named before it in ROOMS.

Reasoned exceptions stand in tools/layers.ini. Prints file:line of each breach; exit status 1 then.
"""
import argparse
import pathlib
import re
import sys

# layer: what it may include. A name is a whole layer, a path one header.
ALLOWED = {
    "base": {"base"},
    "sense": {"base", "sense", "preload/heapregion.h"},
    "model": {"base", "sense", "model", "preload/heapregion.h"},
    "judge": {"base", "model", "judge"},
    "act": {"base", "sense", "model", "act"},
    "tell": {"base", "model", "tell"},
    "agent": {"base", "sense", "model", "judge", "act", "tell", "agent", "preload/heapregion.h", "preload/heapattach.h"},
    "cli": {"base", "sense", "model", "judge", "act", "tell", "agent", "cli"},
}

# The rooms of each layer, from the lowest up. "" is the layer's own folder; a layer that is not named here has no other.
ROOMS = {
    "base": ["", "mask"],
    "sense": ["", "format", "heap", "log", "memory", "bpf", "proc", "host", "rules", "gpu", "net", "native", "death",
              "collective", "wait", "speed", "framework", "python", "pylib", "asyncio", "go"],
    "model": ["incident", "host", "jobs", "rules", "stacks", "gpu", "memory", "collective", "heap", "hang", "ray", "notify",
              "speed", "map"],
    "judge": ["host", "memory", "gpu", "rules", "notify", "collective", "standstill", "pace", "hang", "death", "speed", "map", "health"],
    "act": ["", "inject"],
    "tell": ["text", "store", "notify", "host", "gpu", "collective", "stacks", "heap", "incident", "memory", "jobs",
             "metrics"],
    "agent": ["host", "inspect", "jobs", "guard", "notify", "rules", "gpu", "memory", "stacks", "heap", "collective",
              "wait", "hang", "incident", "metrics", "output", "run", "speed", "map", "web"],
    "cli": ["options", "screen", "config", "host", "stacks", "heap", "jobs", "run", "service", ""],
}

# What runs inside the user's process: nothing of src/, and of libraries only libc. The tool that makes its tables at
# build time is not part of it.
PRELOAD_TOOLS = {"preload/gen_pytables.c"}
PRELOAD_MAY = {"unwind.h", "pytables.inc"}  # the compiler's own run-time, linked in; what the tool makes

# Header prefix: the library it belongs to. One .c of src/ includes each.
FOREIGN = {
    "sqlite3": "sqlite3", "jansson": "jansson", "cyaml/": "libcyaml", "yaml.h": "libyaml", "microhttpd": "libmicrohttpd",
    "curl/": "libcurl", "hs/": "hyperscan", "hs.h": "hyperscan", "zlib": "zlib", "zstd": "zstd",
    "libiberty/": "libiberty", "libelf": "libelf", "gelf": "libelf", "elfutils/": "libdw", "dwarf.h": "libdw", "hwloc": "hwloc", "ncurses": "ncurses",
    "nats": "libnats", "slurm/": "slurm", "bpf/": "libbpf", "cmocka": "cmocka",
    # libsystemd is several libraries in one; each part has its own user.
    "systemd/sd-journal": "sd-journal", "systemd/sd-daemon": "sd-daemon", "systemd/sd-bus": "sd-bus",
    "systemd/sd-event": "sd-event", "systemd/sd-login": "sd-login", "systemd/sd-id128": "sd-journal",
}
# What libc and the kernel bring; anything else in <> must be named above.
SYSTEM_DIRS = ("sys/", "linux/", "asm/", "net/", "netinet/", "arpa/")
SYSTEM = set("""assert ctype dirent dlfcn elf endian errno fcntl fnmatch ftw getopt glob grp ifaddrs inttypes langinfo
libgen limits link locale malloc math mntent netdb paths poll pthread pty pwd regex sched semaphore setjmp shadow
signal spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdio_ext stdlib string strings sysexits syslog
termios threads time tgmath ucontext unistd utime utmp utmpx wchar wctype wordexp""".split())

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def exceptions(path):
    """{(file, header): reason}; a line without a reason is an error."""
    found, problems = {}, []
    if not path.exists():
        return found, problems
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith(("#", "[")):
            continue
        m = re.match(r"^(\S+)\s*=\s*(\S+?):\s+(\S.*)$", line)
        if m:
            found[m.group(1), m.group(2)] = m.group(3)
        else:
            problems.append(f"tools/layers.ini:{number}: expected 'file = header: reason', got '{line}'")
    return found, problems


def foreign_library(header):
    for prefix, library in FOREIGN.items():
        if header.startswith(prefix):
            return library
    return None


def is_system(header):
    return header.startswith(SYSTEM_DIRS) or header.removesuffix(".h") in SYSTEM


def check_own(name, where, header, allowed_here):
    layer = name.split("/")[0]
    if "/" not in header:
        return None if header.endswith((".skel.h", ".inc", "vmlinux.h")) else (
            f'{where}: "{header}" does not say its layer; write "{layer}/{header}"')
    target = header.split("/")[0]
    if target in ALLOWED[layer] or header in ALLOWED[layer] or (name, header) in allowed_here:
        return None
    may = ", ".join(sorted(ALLOWED[layer]))
    return f'{where}: {layer} may not include "{header}" (it may include: {may})'


def room_of(name):
    """The room of src/<name>: "native" of "sense/native/elffile.h", "" of "sense/world.h"."""
    parts = name.split("/")
    return "/".join(parts[1:-1])


def check_room(name, where, header):
    layer = name.split("/")[0]
    if header.split("/")[0] != layer or layer not in ROOMS:
        return None
    rooms, own, other = ROOMS[layer], room_of(name), room_of(header)
    if own not in rooms or other not in rooms:
        return None  # said once for each file by check_room_known
    if rooms.index(other) <= rooms.index(own):
        return None
    return f'{where}: {layer}/{own} may not include "{header}": the room {layer}/{other} stands above it'


def check_room_known(name):
    layer = name.split("/")[0]
    if room_of(name) not in ROOMS.get(layer, [""]):
        return f"src/{name}: tools/layers.py knows no room '{room_of(name)}' in {layer}"
    return None


def check_preload(root):
    for path in sorted((root / "preload").rglob("*.[ch]")):
        name = path.relative_to(root).as_posix()
        if name in PRELOAD_TOOLS:
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            m = INCLUDE.match(line)
            if m and m[2] in PRELOAD_MAY:
                continue
            if m and m[1] == "<" and not is_system(m[2]):
                yield f"{name}:{number}: preload/ uses libc only, not <{m[2]}>"
            elif m and m[1] == '"' and not m[2].startswith("preload/"):
                yield f'{name}:{number}: preload/ lives in the user\'s process and may not include "{m[2]}"'


def check(root):
    allowed_here, problems = exceptions(root / "tools/layers.ini")
    users, used = {}, set()
    src = root / "src"
    for path in sorted(src.rglob("*.[ch]")):
        name = path.relative_to(src).as_posix()
        layer = name.split("/")[0]
        if layer not in ALLOWED:
            problems.append(f"src/{name}: there is no layer '{layer}'")
            continue
        problem = check_room_known(name)
        if problem:
            problems.append(problem)
        if name.endswith((".bpf.c", ".bpf.h")):
            continue  # runs in the kernel, under the verifier's rules
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            m = INCLUDE.match(line)
            if not m:
                continue
            kind, header = m.groups()
            where = f"src/{name}:{number}"
            used.add((name, header))
            if kind == '"':
                problem = check_own(name, where, header, allowed_here) or check_room(name, where, header)
                if problem:
                    problems.append(problem)
                continue
            library = foreign_library(header)
            if library:
                if name.endswith(".h") and (name, header) not in allowed_here:
                    problems.append(f"{where}: <{header}> in a header spreads {library} to all who include it")
                users.setdefault(library, {}).setdefault(name, where)
            elif not is_system(header):
                problems.append(f"{where}: <{header}> belongs to no library that tools/layers.py knows; name it there")
    problems.extend(check_preload(root))
    for library, files in sorted(users.items()):
        extra = [f for f in files if not any(key[0] == f and foreign_library(key[1]) == library for key in allowed_here)]
        if len(extra) > 1:
            problems.append(f"{library} is included by {len(extra)} files, expected one: {', '.join(files.values())}")
    for key in allowed_here:
        if key not in used:
            problems.append(f"tools/layers.ini: '{key[0]} = {key[1]}' is no longer needed; remove it")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    problems = check(parser.parse_args().root)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
