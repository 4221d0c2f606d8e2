"""Takes places of make's jobserver, as the argument says, and then works: part of h23_jobserver.sh."""
import os
import re
import select
import sys

from kit23 import busy, role


def jobserver():
    flags = os.environ["MAKEFLAGS"]
    named = re.search(r"--jobserver-auth=fifo:(\S+)", flags)
    if named:
        fd = os.open(named[1], os.O_RDWR)
        return fd, fd
    return tuple(map(int, re.search(r"--jobserver-\w+=(\d+),(\d+)", flags).groups()))


def take_places(fd, n):
    places = b""
    while len(places) < n:
        select.select([fd], [], [])
        try:
            places += os.read(fd, 1)
        except BlockingIOError:
            pass
    return places


role("tool")
theirs, back = jobserver()
places = take_places(theirs, int(sys.argv[1]))
busy(60)
os.write(back, places)
print("index is made", flush=True)
