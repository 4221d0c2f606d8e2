from kitd6 import *
class HTTPError(Exception): pass
class RetryError(Exception): pass
class DatasetError(Exception): pass
def get(n):
    raise HTTPError("403 Forbidden: signature of the URL expired at 02:00:00Z")
def retry(n):
    for k in range(3):
        try:
            get(n)
        except HTTPError as error:
            last = error
            time.sleep(0.2)
    raise RetryError("3 attempts") from last
def item(n):
    try:
        return retry(n)
    except RetryError as error:
        raise DatasetError(f"cannot read sample {n}") from error
epochs(6)
item(4711)
