from kitd8 import *
from concurrent.futures import ProcessPoolExecutor


def begin():
    raise ValueError("sentencepiece model has 31999 pieces, expected 32000")


fit(4)
with ProcessPoolExecutor(2, initializer=begin) as pool:
    list(pool.map(len, ["a b", "c d"]))
