"""Three errors deep: the first is the reason."""
from job import *

train(0, 6)
try:
    try:
        try:
            {}["mean"]
        except KeyError as e:
            raise ValueError("statistics are incomplete") from e
    except ValueError as e:
        raise RuntimeError("normaliser could not be made") from e
except RuntimeError as e:
    raise SystemError("trainer stopped") from e
