"""seeds_lines.py FOLDER STAMP CC...: small libraries with debug information of several kinds, as seeds for the reader of source lines.

A kind that this compiler does not make is left out.
"""
import pathlib
import struct
import subprocess
import sys

# The order of the driver, fuzz_lines.c.
SECTIONS = ("abbrev", "info", "line", "str", "line_str", "aranges", "ranges", "rnglists", "addr", "types", "str_offsets")

SOURCE = """
struct pair { long a, b; };
static inline __attribute__((always_inline)) long inner(long x)
{
	{
		long y = x * 3;
		return y ^ 5;
	}
}
static inline __attribute__((always_inline)) long middle(struct pair *p)
{
	return inner(p->a) + inner(p->b);
}
__attribute__((noinline)) long outer(struct pair *p)
{
	return middle(p) - 1;
}
long cold(struct pair *p, int n)
{
	for (int i = 0; i < n; i++)
		p->a += outer(p);
	return p->a;
}
"""
OTHER = """
extern long outer(void *);
long second(void *p) { return outer(p) + 2; }
"""
KINDS = {
    "dwarf5": ["-gdwarf-5"],
    "dwarf4": ["-gdwarf-4"],
    "dwarf3": ["-gdwarf-3"],
    "dwarf2": ["-gdwarf-2", "-gstrict-dwarf"],
    "aranges": ["-gdwarf-4", "-gdwarf-aranges"],
    "ranges": ["-gdwarf-5", "-ffunction-sections"],
    "types": ["-gdwarf-4", "-fdebug-types-section"],
    "compressed": ["-gdwarf-5", "-gz=zlib"],
    "split": ["-gdwarf-5", "-gsplit-dwarf"],
    "lines": ["-g1"],
    "macros": ["-g3"],
}


def made(folder, cc, kind, flags):
    for name, text in (("one.c", SOURCE), ("two.c", OTHER)):
        (folder / name).write_text(text)
    command = [*cc, "-O2", "-fPIC", "-fno-asynchronous-unwind-tables", *flags, "-shared", "-nostdlib", "-Wl,--build-id=none",
               "-Wl,-z,max-page-size=4096", "-Wl,-z,noseparate-code", "-o", kind, "one.c", "two.c"]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


def apart(folder, kind):
    """The sections of a library, as the driver takes them: changes then do not hit the headers that lead to them."""
    contents = []
    for name in SECTIONS:
        part = folder / "part"
        part.write_bytes(b"")
        subprocess.run(["objcopy", "--decompress-debug-sections", "--dump-section", f".debug_{name}=part", kind, "scratch"],
                       cwd=folder, capture_output=True, check=False)
        contents.append(part.read_bytes())
    (folder / f"{kind}-sections").write_bytes(struct.pack(f"<{len(contents)}I", *map(len, contents)) + b"".join(contents))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    some = [kind for kind, flags in KINDS.items() if made(folder, sys.argv[3:], kind, flags)]
    for kind in some:
        apart(folder, kind)
    for path in folder.iterdir():
        if path.name.removesuffix("-sections") not in some:
            path.unlink()
    if not some:
        sys.exit(f"{sys.argv[3]} makes no library with debug information")
    pathlib.Path(sys.argv[2]).touch()


main()
