"""A parser tells line and column of the mistake on several lines."""
from job import *

class ScannerError(Exception):
    pass
ScannerError.__module__ = "yaml.scanner"
train(0, 3)
raise ScannerError('mapping values are not allowed here\n  in "configs/base.yaml", line 12, column 9')
