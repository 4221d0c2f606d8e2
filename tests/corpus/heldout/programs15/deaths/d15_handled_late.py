"""A tracker cannot be reached, which is logged with its traceback and got over, again and again; much later the
batch has another shape than the model."""
import logging
import urllib.request

from kitd15 import *

role("main")
for step in range(200):
    told(1, step)
    if step % 20 == 5:
        try:
            urllib.request.urlopen("http://127.0.0.1:9/api/log", timeout=2)
        except OSError:
            logging.exception("could not log metrics")
    if step == 90:
        raise ValueError("operands could not be broadcast together with shapes (32,512) (31,512)")
