"""GNU parallel beside vigil map."""
import os
import shutil
import subprocess

PARALLEL = shutil.which("parallel")


def parallel(*args, cwd, input=b""):
    home = cwd / "parallel"
    home.mkdir(exist_ok=True)
    (home / "will-cite").touch()
    done = subprocess.run([PARALLEL, *args], input=input, capture_output=True, cwd=cwd, timeout=60, check=False,
                          env={**os.environ, "PARALLEL_HOME": str(home)})
    return done.stdout, done.returncode
