import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

steps(5)
for t in range(3):
    say(f"../aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex: block: [{t},0,0], thread: [{32 + t},0,0] Assertion `srcIndex < srcSelectDimSize` failed.")
raise RuntimeError("CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported at some other API call, "
    "so the stacktrace below might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n")
