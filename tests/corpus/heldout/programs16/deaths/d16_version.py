"""A package of another version than is wanted: its own check says so, and the importing module tells it on."""
from kitd16 import *


def need(name, have, least):
    if tuple(map(int, have.split("."))) < tuple(map(int, least.split("."))):
        raise ImportError("%s>=%s is required, but %s==%s was found" % (name, least, name, have))


def load_backend():
    try:
        need("fasttok", "0.15.2", "0.19.0")
    except ImportError as error:
        raise RuntimeError("could not set up the backend") from error


told(25)
load_backend()
