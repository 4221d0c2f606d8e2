"""A converter warns of each row; main reads its output to the end and its errors afterwards."""
import subprocess
import sys

import kit8

if sys.argv[1:]:
    for row in range(300):
        print("converted", row, flush=True)
        if int(sys.argv[1]) > 8:
            print("UserWarning: row %d has no language, using 'en' %s" % (row, "." * 400), file=sys.stderr, flush=True)
    sys.exit()
kit8.role("main")
for part in range(100):
    tool = subprocess.Popen([sys.executable, __file__, str(part)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    kit8.role("converter", tool.pid)
    rows = len(tool.stdout.readlines())
    warnings = len(tool.stderr.readlines())
    kit8.crunch(0.5)
    print("part %d: %d rows, %d warnings, exit %d" % (part, rows, warnings, tool.wait()), flush=True)
