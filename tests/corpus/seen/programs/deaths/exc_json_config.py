"""A configuration with a trailing comma."""
from job import *

import json
json.loads('{"lr": 0.1,}')
