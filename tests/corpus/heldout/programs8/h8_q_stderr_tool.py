"""A converter is read to the end of its output; part 9 takes it 66 s, in which it works and says nothing."""
import subprocess
import sys

import kit8

if sys.argv[1:]:
    if sys.argv[1] == "9":
        kit8.compute(66)
    for row in range(300):
        print("converted", row, flush=True)
    sys.exit()
for part in range(14):
    tool = subprocess.Popen([sys.executable, __file__, str(part)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    rows = len(tool.stdout.readlines())
    warnings = len(tool.stderr.readlines())
    kit8.crunch(0.5)
    print("part %d: %d rows, %d warnings, exit %d" % (part, rows, warnings, tool.wait()), flush=True)
