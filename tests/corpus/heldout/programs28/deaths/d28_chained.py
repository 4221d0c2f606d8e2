"""A shard's JSON is cut off; the loader wraps the error twice, with `raise ... from`."""
import json

from kitd28 import role, steps


class LoaderError(Exception):
    pass


def parse(line):
    try:
        return json.loads(line)
    except ValueError as error:
        raise LoaderError("shard-00017.jsonl: record 812 is not readable") from error


def load():
    try:
        return parse('{"text": "once upon')
    except LoaderError as error:
        raise RuntimeError("DataLoader failed") from error


role("main")
steps(25)
load()
