import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitlife import *   # noqa: F401,F403

steps(15)
raise RuntimeError("CUDA error: uncorrectable ECC error encountered\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n")
