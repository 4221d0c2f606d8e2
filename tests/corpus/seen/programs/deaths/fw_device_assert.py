"""An index out of range inside of a kernel."""
from job import *
train(0, 40)
print('../aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex: block: [31,0,0], thread: [64,0,0] Assertion `srcIndex < srcSelectDimSize` failed.\nRuntimeError: CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.', file=sys.stderr, flush=True)
sys.exit(1)
