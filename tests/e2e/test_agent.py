"""`vigil agent`: whom it adopts by the text of a command line."""
import json
import shutil
import subprocess
import sys

from conftest import wait_for, workload


def test_a_program_below_a_folder_called_vigil_is_adopted_and_vigil_itself_is_not(vigil, tmp_path):
    folder = tmp_path / "vigil" / "here"
    folder.mkdir(parents=True)
    program = shutil.copy(workload("hog")[2], folder / "train.py")
    own = vigil.start("run", "--quiet", "--", "sh", "-c", "echo ready; exec sleep 60", folder)
    assert own.stdout.readline() == b"ready\n"
    job = subprocess.Popen([sys.executable, program, "1", "--hold", "60"], start_new_session=True)
    try:
        vigil.start("agent", "--command", str(folder))
        jobs = wait_for(lambda: [j for j in map(json.loads, vigil("jobs", "--json").out.splitlines()) if j.get("adopted")],
                        20, "the program to be adopted")
        assert [j["pid"] for j in jobs] == [job.pid]
    finally:
        job.kill()
        job.wait(10)
