"""A hub does not answer; the cache, which is asked instead, has no tokenizer."""
import urllib.request

from kitd17 import *


def download(name):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    return urllib.request.urlopen("http://127.0.0.1:%d/%s" % (port, name), timeout=5).read()


def load(name):
    try:
        return download(name)
    except OSError:
        raise FileNotFoundError("%s is neither at the hub nor in the cache .hub" % name)


told(15)
load("tokenizer.json")
