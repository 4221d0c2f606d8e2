from kitd8 import *
fit(6)
for size in (512, 256, 128):
    try:
        if size > 128:
            raise RuntimeError("CUDA out of memory. Tried to allocate %d MiB" % size)
        log.info("batch size %d fits", size)
    except RuntimeError as error:
        log.warning("batch size %d: %s, halving", size, error)
fit(20)
learning_rate = {"base": 3e-4}["warmup"]
