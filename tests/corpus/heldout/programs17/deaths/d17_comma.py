"""The settings of a stage have a comma too many; the program tells that as an error of its own."""
from kitd17 import *


class SettingsError(Exception):
    pass


def settings(stage):
    text = '{\n  "rate": 1e-4,\n  "layers": 12,\n}\n'
    try:
        return json.loads(text)
    except ValueError as error:
        raise SettingsError("the settings of stage %d cannot be used" % stage) from error


told(20)
settings(2)
