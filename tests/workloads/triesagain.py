"""Tries to make a folder that is there, in a loop of naps, and says so once."""
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


def naps():
    while True:
        time.sleep(0.3)


folder = tempfile.mkdtemp()
LINE = 1 + next(i for i, line in enumerate(open(__file__)) if "sleep(0" in line)
print(json.dumps({"main": threading.get_native_id(), "path": folder, "line": LINE}), flush=True)
if sys.argv[1:] == ["outside"]:  # it only naps, within a handler further out
    try:
        os.mkdir(folder)
    except FileExistsError:
        naps()
build(folder)
