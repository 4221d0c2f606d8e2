"""Extensions are built under a lock of the kind "mkdir"; a build that was broken off has left it."""
import os
import time

import kit4


def build(name):
    path = os.path.join("build", name + ".lck")
    while True:
        try:
            os.mkdir(path)
            break
        except FileExistsError:
            time.sleep(0.3)
    try:
        kit4.crunch(0.5)
    finally:
        os.rmdir(path)


kit4.role("main")
os.makedirs("build/fused_adam.lck")
for name in ("layernorm", "rotary", "softmax", "fused_adam", "topk"):
    print("building extension", name, flush=True)
    build(name)
