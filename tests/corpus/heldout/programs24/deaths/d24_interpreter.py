"""An interpreter within the process is ended while a thread of it reads: the runtime gives up."""
import os

import _xxsubinterpreters as interpreters

from kitd24 import steps

PLUGIN = "import os, threading\nthreading.Thread(target=lambda: os.read(%d, 100)).start()"
reading, writing = os.pipe()
steps(20)
plugin = interpreters.create(isolated=False)
interpreters.run_string(plugin, PLUGIN % reading)
interpreters.destroy(plugin)
