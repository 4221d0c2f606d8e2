"""Tries to make a folder that is there, in a loop of naps, and says so once."""
import contextlib
import json
import os
import sys
import tempfile
import threading
import time


def build(path):
    while True:
        try:
            os.mkdir(path)
            break
        except FileExistsError:
            time.sleep(0.3)


@contextlib.contextmanager
def lock(path):
    while True:
        try:
            os.mkdir(path)
            break
        except FileExistsError:
            time.sleep(0.3)
    yield


def naps():
    while True:
        time.sleep(0.3)


folder = tempfile.mkdtemp()
LINES = [1 + i for i, line in enumerate(open(__file__)) if "    time.sleep(0" in line]
LINE = LINES[sys.argv[1:] == ["within"]]
print(json.dumps({"main": threading.get_native_id(), "path": folder, "line": LINE}), flush=True)
if sys.argv[1:] == ["outside"]:  # it only naps, within a handler further out
    try:
        os.mkdir(folder)
    except FileExistsError:
        naps()
if sys.argv[1:] == ["within"]:  # in a generator's frame, as a lock in a with is
    with lock(folder):
        pass
build(folder)
