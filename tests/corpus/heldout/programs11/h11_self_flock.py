"""A builder of data sets takes a flock on its folder, and so does the function that it calls for one part, by another descriptor of the same file: for the kernel
these are two owners."""
import contextlib
import fcntl
import os
import tempfile

from kit11 import crunch, role

CACHE = tempfile.mkdtemp(prefix="datasets-", dir=".")


@contextlib.contextmanager
def file_lock(path):
    with open(path + ".lock", "a") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def download(name, part):
    with file_lock(os.path.join(CACHE, name)):
        crunch(0.2)
        return 100


def prepare(name, parts):
    with file_lock(os.path.join(CACHE, name)):
        return sum(download(name if part == "dictionary" else part, part) for part in parts)


role("main")
print("news:", prepare("news", ["train", "test"]), "rows", flush=True)
print("books:", prepare("books", ["train", "test", "dictionary"]), "rows", flush=True)
