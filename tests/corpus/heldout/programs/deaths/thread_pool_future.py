"""The error of a future comes out at result()."""
from job import *

from concurrent.futures import ThreadPoolExecutor
def fetch(i):
    if i == 5:
        raise PermissionError(13, "Permission denied", "s3://bucket/part-5")
    return i
with ThreadPoolExecutor(4) as ex:
    train(0, 5)
    print(list(ex.map(fetch, range(8))))
