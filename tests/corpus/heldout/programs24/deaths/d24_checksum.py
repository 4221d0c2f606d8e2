"""Weights were downloaded while they were written anew; their checksum is another one. A first mirror was left out."""
import hashlib

from kitd24 import steps


def download(mirror):
    if mirror == 0:
        raise TimeoutError("mirror 0: timed out")
    return b"weights of yesterday"


def fetch(wanted):
    for mirror in range(2):
        try:
            body = download(mirror)
        except TimeoutError as error:
            print("warning: %s, trying the next one" % error, flush=True)
            continue
        found = hashlib.sha256(body).hexdigest()[:12]
        if found != wanted:
            raise ValueError("encoder.bin: checksum %s, expected %s" % (found, wanted))
        return body


steps(20)
fetch("0c1f5a3be902")
