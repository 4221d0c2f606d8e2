from kitd8 import *
fit(8)
try:
    shape = (4096, 1024)
    assert shape == (4096, 4096), "projection is %s, checkpoint has (4096, 4096)" % (shape,)
except AssertionError:
    log.exception("cannot load checkpoint")
    sys.exit(4)
