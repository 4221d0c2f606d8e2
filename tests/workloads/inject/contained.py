#!/usr/bin/python3
"""What a container's runtime does, as far as seccomp goes; to be the first process of a new pid namespace.

contained.py FILTER first COMMAND...        this process has FILTER and becomes COMMAND
contained.py FILTER child COMMAND...        it has FILTER, its child becomes COMMAND
contained.py FILTER own:FILTER COMMAND...   and the child gives itself one more before

FILTER: usual (what Docker's default comes down to: a few calls fail with EPERM), deadly (mincore ends the process),
by-argument (a call with PROT_EXEC ends the process: which one is not known by its number alone), none
"""
import ctypes
import os
import struct
import sys

ALLOW, KILL, EPERM = 0x7fff0000, 0x80000000, 0x00050001
X86_64 = 0xc000003e
LOAD, EQUAL, BIT, RETURN = 0x20, 0x15, 0x45, 0x06
MPROTECT, MINCORE, PTRACE, MOUNT, UNSHARE, BPF = 10, 27, 101, 165, 272, 321


def rows(kind):
    begin = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, X86_64), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    end = [(RETURN, 0, 0, ALLOW)]
    if kind == "usual":
        refused = [row for nr in (PTRACE, MOUNT, UNSHARE, BPF) for row in ((EQUAL, 0, 1, nr), (RETURN, 0, 0, EPERM))]
        return begin + refused + end
    if kind == "deadly":
        return begin + [(EQUAL, 0, 1, MINCORE), (RETURN, 0, 0, KILL)] + end
    if kind == "by-argument":
        return begin + [(EQUAL, 0, 3, MPROTECT), (LOAD, 0, 0, 16 + 2 * 8), (BIT, 0, 1, 4), (RETURN, 0, 0, KILL)] + end
    return []


def install(kind):
    program = rows(kind)
    if not program:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    keep = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row) for row in program))
    head = struct.pack("HxxxxxxQ", len(program), ctypes.addressof(keep))
    assert libc.prctl(38, 1, 0, 0, 0) == 0
    assert libc.prctl(22, 2, head, 0, 0) == 0, os.strerror(ctypes.get_errno())


def main():
    kind, who, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    install(kind)
    if who == "first":
        os.execv(command[0], command)
    if os.fork() == 0:
        if who.startswith("own:"):
            install(who[4:])
        os.execv(command[0], command)
    os.wait()


main()
