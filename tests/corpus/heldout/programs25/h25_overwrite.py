"""A preparation unpacks archives by a tool, at a terminal of its own so that the tool shows its progress, and reads that
until the tool ends. At a file that is there already the tool asks "replace? [y]es, [n]o:" and reads the answer.

slow: nothing is there already, an archive takes 63 s."""
import os
import pty
import subprocess
import sys

from kit25 import SLOW, STALL, STEPS, Log, crunch, role, with_parent

ASK = 'role() { [ -z "$CORPUS_ROLES" ] || echo "$1 $$" >> "$CORPUS_ROLES"; }; role unpacker; printf "%s" "inflating: part-17 "; ' \
      'printf "%s" "replace part-17.json? [y]es, [n]o: "; read answer; echo "$answer"'
WORK = "sleep 63"


def unpack(step):
    if step != STALL:
        return crunch(0.22)
    ours, theirs = pty.openpty()
    tool = subprocess.Popen(["bash", "-c", WORK if SLOW else ASK], stdin=theirs, stdout=theirs, stderr=theirs,
                            preexec_fn=with_parent)
    os.close(theirs)
    try:
        while os.read(ours, 4096):
            pass
    except OSError:
        pass
    return tool.wait()


def prepare():
    role("main")
    log = Log("plain")
    for step in range(STEPS):
        unpack(step)
        log(step, 1.0)


sys.exit(prepare())
