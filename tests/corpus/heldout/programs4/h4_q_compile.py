"""Rank 0 builds extensions with the C++ compiler before the first step, the others wait for it."""
import subprocess
import time

import kit4

SOURCE = "#include <map>\n#include <regex>\n#include <string>\n" + "".join(
    "std::map<std::string, std::regex> f%d() { return {{\"a\", std::regex(\"b+%d\")}}; }\n" % (k, k) for k in range(8))


def build(seconds):
    end, n = time.time() + seconds, 0
    while time.time() < end:
        with open("ext%d.cpp" % n, "w") as f:
            f.write(SOURCE)
        subprocess.check_call(["g++", "-O2", "-fPIC", "-c", "ext%d.cpp" % n, "-o", "ext.o"])
        n += 1


def train(rank, world, port):
    hub = kit4.Hub(rank, world, port)
    if rank == 0:
        build(70)
    hub.reduce(0)
    for i in range(20):
        kit4.crunch(0.2)
        hub.reduce(1)
        if rank == 0:
            print("step", i, flush=True)


kit4.main(4, train)
