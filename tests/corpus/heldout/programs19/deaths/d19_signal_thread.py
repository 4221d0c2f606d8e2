"""A trainer trains in a thread, and would set a handler of a signal there."""
from concurrent.futures import ThreadPoolExecutor

from kitd19 import *


def save_when_told():
    signal.signal(signal.SIGUSR1, lambda *_: None)


def train():
    told(30)
    save_when_told()
    told(30, 30)


with ThreadPoolExecutor(1) as pool:
    pool.submit(train).result()
