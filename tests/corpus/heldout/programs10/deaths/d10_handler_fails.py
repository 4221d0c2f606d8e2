import logging

from kitd10 import *

log = logging.getLogger("eval")
epochs(8)
try:
    total, count = 0.0, 0
    accuracy = total / count
except ZeroDivisionError as error:
    log.eror("no samples in validation split 'de': %s", error)
