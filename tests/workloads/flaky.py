"""Fails until it has been started GOOD_AFTER times; keeps count in FOLDER.

flaky.py FOLDER GOOD_AFTER exit STATUS | segv
"""
import ctypes
import os
import pathlib
import resource
import sys

folder, good_after, how = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
attempt = len(list(folder.glob("start-*")))
(folder / f"start-{attempt}").write_text(os.environ.get("RESTART_COUNT", "unset"))
if attempt < good_after:
    if how[0] == "segv":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        ctypes.string_at(0)
    sys.exit(int(how[1]))
