"""A library of operators starts a thread in its constructor and waits for it; the thread opens another library, for which it needs the
lock of the dynamic loader."""
import ctypes
import os
import subprocess

import kit9

SOURCE = """
#include <dlfcn.h>
#include <pthread.h>
static void *probe(void *unused) { (void)unused; return dlopen("libutil.so.1", RTLD_NOW); }
__attribute__((constructor)) static void setup(void) {
    pthread_t thread;
    pthread_create(&thread, 0, probe, 0);
    pthread_join(thread, 0);
}
int fused(int x) { return 2 * x; }
"""

kit9.role("main")
with open("fused.c", "w") as f:
    f.write(SOURCE)
subprocess.run(["gcc", "-O1", "-g", "-shared", "-fPIC", "-pthread", "fused.c", "-o", "fused_ops.so", "-ldl"], check=True)
for s in range(12):
    kit9.crunch(0.1)
    kit9.step(0, s, 40)
print("compiling done, loading fused operators", flush=True)
ops = ctypes.CDLL(os.path.abspath("fused_ops.so"))
for s in range(12, 40):
    kit9.crunch(0.1)
    kit9.step(0, ops.fused(s) // 2, 40)
