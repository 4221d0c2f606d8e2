"""The loss scale can shrink no more."""
from job import *
ExceptionClass = type('Exception', (RuntimeError,), {'__module__': 'builtins'})
train(0, 40)
raise ExceptionClass('Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.')
