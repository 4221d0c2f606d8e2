"""A library with OpenMP has been used before the loader is forked, and the loader uses it too."""
import ctypes
import multiprocessing
import os
import subprocess

import kit9

SOURCE = """
double norm(const double *x, int n) {
    double sum = 0;
    #pragma omp parallel for num_threads(2) reduction(+:sum)
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sum;
}
"""


def library():
    with open("norm.c", "w") as f:
        f.write(SOURCE)
    subprocess.run(["gcc", "-O2", "-fopenmp", "-shared", "-fPIC", "norm.c", "-o", "norm.so"], check=True)
    lib = ctypes.CDLL(os.path.abspath("norm.so"))
    lib.norm.restype = ctypes.c_double
    return lib


def load(lib, data, out):
    kit9.with_parent()
    kit9.role("loader")
    for k in range(100):
        kit9.crunch(0.05)
        out.send((k, lib.norm(data, 4096)))


if __name__ == "__main__":
    kit9.role("main")
    lib, data = library(), (ctypes.c_double * 4096)(*range(4096))
    print("norm of the validation set: %.1f" % lib.norm(data, 4096), flush=True)
    source, out = multiprocessing.Pipe(duplex=False)
    loader = multiprocessing.get_context("fork").Process(target=load, args=(lib, data, out))
    loader.start()
    out.close()
    for k in range(100):
        number, norm = source.recv()
        print("batch %d norm %.2f" % (number, norm), flush=True)
