"""The service's unit as packaging installs it: understood by systemd, no more exposed than was agreed, each right explained."""
import pathlib
import re
import shutil
import subprocess

import pytest

SYSTEMD = pathlib.Path(__file__).resolve().parents[2] / "packaging/systemd"
# What `systemd-analyze security` of systemd 252 says; lower is better. The unit's comments say what each part of it is for.
EXPOSURE_MOST = 4.0


def unit_text():
    return (SYSTEMD / "vigil-agent.service.in").read_text().replace("@bindir@/vigil", "/bin/true")


def analyze(folder, *args):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    # the manual is not installed here
    text = "".join(line for line in unit_text().splitlines(True) if not line.startswith("Documentation="))
    (folder / "vigil-agent.service").write_text(text)
    shutil.copy(SYSTEMD / "vigil.slice", folder)
    return subprocess.run(["systemd-analyze", *args, folder / "vigil-agent.service"], text=True, capture_output=True, timeout=60)


def test_systemd_understands_the_unit(tmp_path):
    done = analyze(tmp_path, "verify", "--man=no", "--recursive-errors=no")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_unit_is_no_more_exposed_than_agreed(tmp_path):
    done = analyze(tmp_path, "security", "--offline=true", "--no-pager", f"--threshold={EXPOSURE_MOST * 10:.0f}")
    said = re.search(r"Overall exposure level for vigil-agent.service: ([\d.]+)", done.stdout)
    assert said and float(said[1]) <= EXPOSURE_MOST and done.returncode == 0, done.stdout + done.stderr


def test_the_unit_has_no_right_that_its_comments_do_not_explain():
    text = unit_text()
    comments = "\n".join(line for line in text.splitlines() if line.startswith("#"))
    rights = [name for line in re.findall(r"^CapabilityBoundingSet=(.*)", text, re.M) for name in line.split()]
    assert rights and all(name.startswith("CAP_") for name in rights)
    assert [name for name in rights if not re.search(rf"\b{name.removeprefix('CAP_')}\b", comments)] == []
