"""Another user writes into the journal what a killer would write, naming a job of root's that ends: the killer is not blamed."""
import os
import shutil
import sys

import pytest

from strangerkit import ATTACKER, needs_root

JOURNALD = "/lib/systemd/systemd-journald"
pytestmark = [needs_root, pytest.mark.skipif(not os.path.exists(JOURNALD) or not shutil.which("logger") or
                                             not shutil.which("setpriv"), reason="takes journald, logger and setpriv")]
# A journal of one's own, in memory.
PRIVATE = f"""
set -e
mount -t tmpfs none /run
mount -t tmpfs none /var/log
mkdir -p /run/systemd/journal /run/log/journal
echo 0123456789abcdef0123456789abcdef > /run/id
mount --bind /run/id /etc/machine-id
{JOURNALD} > /dev/null 2>&1 &
while [ ! -S /run/systemd/journal/dev-log ]; do sleep 0.01; done
"$@" && status=0 || status=$?
kill %1
exit $status
"""
# It is told of by the user in the killer's name, and once that stands in the journal it ends.
JOB = """
import os, signal, subprocess, sys, time
said = f'sending SIGKILL to process {os.getpid()} uid 0 "python3": badness 900, VmRSS 100 MiB'
subprocess.run(["setpriv", "--reuid", sys.argv[1], "--clear-groups", "logger", "-u", "/run/systemd/journal/dev-log", "-t", "earlyoom",
                said], check=True)
while said not in subprocess.run(["journalctl", "-o", "cat", "-t", "earlyoom"], capture_output=True, text=True).stdout:
    time.sleep(0.02)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("writer", ["service", "user"])
def test_a_killer_is_believed_if_it_is_no_ordinary_user(vigil, writer):
    uid = 0 if writer == "service" else ATTACKER
    result = vigil("run", "--", sys.executable, "-c", JOB, uid, prefix=("unshare", "-m", "sh", "-c", PRIVATE, "-"))
    if b"mount:" in result.err:
        pytest.skip("nothing can be mounted here")
    report = vigil.why()
    assert (report.get("killer") == "earlyoom") == (writer == "service"), report
