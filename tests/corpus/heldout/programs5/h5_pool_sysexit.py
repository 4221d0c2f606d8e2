"""A task of a multiprocessing.Pool calls a tool that leaves by sys.exit; its worker goes, the task is never answered."""
import multiprocessing as mp
import sys

import kit5


def check(record):
    if "\0" in record:
        kit5.role("lost")
        sys.exit("validate: NUL byte in record")


def clean(k):
    kit5.crunch(0.2)
    check("text" if k != 17 else "te\0xt")
    return k


def main():
    kit5.role("main")
    with mp.get_context("spawn").Pool(3, kit5.with_parent) as pool:
        for k in pool.imap_unordered(clean, range(40)):
            print("cleaned", k, flush=True)


if __name__ == "__main__":
    main()
