"""Run a cmocka program and make its TAP output say "skipped" the way TAP does.

cmocka 1.1 writes "not ok 3 # SKIP name", which every TAP reader takes for a
failure. The line before it ("skipped: why") goes along as the reason.
"""
import re
import subprocess
import sys

SKIPPED = re.compile(r"not ok (\d+) # SKIP (.*)")


def main(command):
    reason = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as test:
        for line in test.stdout:
            line = line.rstrip("\n")
            skipped = SKIPPED.fullmatch(line)
            if skipped:
                line = f"ok {skipped[1]} - {skipped[2]} # SKIP {reason}".rstrip()
            reason = line.removeprefix("skipped: ") if line.startswith("skipped: ") else ""
            print(f"# {line}" if reason else line, flush=True)
    return test.returncode if test.returncode >= 0 else 128 - test.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
