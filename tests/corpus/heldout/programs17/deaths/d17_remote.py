"""A process of a pool finds a row too short; main has its error with the words of the process."""
import multiprocessing

from kitd17 import *


def tokens(row):
    return row.split("\t")[2].split()


def main():
    rows = ["%d\t0\ta b c" % k for k in range(40)]
    rows[31] = "31\t0"
    with multiprocessing.Pool(2) as pool:
        told(15)
        print(len(pool.map(tokens, rows)))


if __name__ == "__main__":
    main()
