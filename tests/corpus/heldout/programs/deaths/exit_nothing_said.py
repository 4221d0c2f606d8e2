"""Status 1 and not one word."""
from job import *

os._exit(1)
