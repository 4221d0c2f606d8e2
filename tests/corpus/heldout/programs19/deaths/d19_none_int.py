"""A launcher has written None where a number of shards should be, which is read at the first validation."""
from kitd19 import *

os.environ["VAL_SHARDS"] = str(json.loads('{"shards": null}')["shards"])


def validate():
    shards = int(os.environ["VAL_SHARDS"])
    return sum(1.0 / (1 + k) for k in range(shards))


told(30)
validate()
told(30, 30)
