#!/usr/bin/python3
"""The system calls of the machine that is compiled for, as lines of a C table: X(number, "name").

    syscallnames.py OUTPUT COMPILER...

The numbers come from the compiler's own <sys/syscall.h>, so the table fits the architecture and the headers.
"""
import pathlib
import re
import subprocess
import sys

# Marks in the header that are not calls.
NOT_CALLS = {"syscalls", "arch_specific_syscall"}


def main():
    output, compiler = sys.argv[1], sys.argv[2:]
    macros = subprocess.run([*compiler, "-E", "-dM", "-x", "c", "-"], input="#include <sys/syscall.h>\n",
                            text=True, capture_output=True, check=True).stdout
    names = sorted(set(re.findall(r"^#define __NR_(\w+)\s+\S", macros, re.M)) - NOT_CALLS)
    if "read" not in names:
        sys.exit("syscallnames.py: the compiler knows no system calls")
    pathlib.Path(output).write_text("".join(f'X(__NR_{name}, "{name}")\n' for name in names))


main()
