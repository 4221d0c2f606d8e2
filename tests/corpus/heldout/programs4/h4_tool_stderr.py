"""Each shard is converted by a tool; its output is read first and its warnings afterwards."""
import subprocess
import sys

import kit4

TOOL = """
import sys
shard = int(sys.argv[1])
for row in range(400):
    print(shard, row)
    if shard == 6:
        print("warning: shard %d row %d: field 'caption' is not valid UTF-8, replaced" % (shard, row) * 4, file=sys.stderr)
"""


def convert(shard):
    p = kit4.start([sys.executable, "-c", TOOL, str(shard)], "tool", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    rows = p.stdout.read().splitlines()
    warnings = p.stderr.read()
    p.wait()
    return len(rows), len(warnings)


kit4.role("main")
for shard in range(20):
    rows, warned = convert(shard)
    kit4.crunch(0.6)
    print("shard %d: %d rows, %d bytes of warnings" % (shard, rows, warned), flush=True)
