"""A name that another version of a module has."""
from job import *

from collections import Mapping
