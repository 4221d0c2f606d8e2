"""Boots a throw-away machine with its scenarios, and reads what they left."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TOOLS = ("qemu-system-x86_64", "mmdebstrap", "mke2fs", "busybox", "cpio", "zstd", "depmod")


def why_not():
    if os.geteuid() != 0:
        return "not root: the machine's image is built and shared with its files' owners"
    if os.uname().machine != "x86_64":
        return f"the throw-away machine is x86_64, this one is {os.uname().machine}"
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = [t for t in TOOLS if not shutil.which(t, path=path)]
    return f"{', '.join(missing)} missing; run {HERE.name}/build-image.sh --deps" if missing else None


def vigil_path():
    return pathlib.Path(os.environ.get("VIGIL") or ROOT / "build/src/cli/vigil").resolve()


class Seen:
    """What one scenario left behind."""

    def __init__(self, path):
        self.path = path

    def fact(self, name):
        file = self.path / name
        assert file.exists(), f"the scenario did not get as far as '{name}'\n{self}"
        return file.read_text().strip()

    def number(self, name):
        return int(self.fact(name))

    def json(self, name):
        text = self.fact(name)
        assert text, f"{name} is empty\n{self}"
        return json.loads(text)

    def why(self):
        report = self.json("why.json")
        assert report["schema"] == "vigil.incident/1"
        return report

    def text_of(self, report):
        """Everything a reader of the report gets to see."""
        return json.dumps(report, ensure_ascii=False) + (self.path / "why.txt").read_text(errors="replace")

    def __str__(self):
        parts = []
        for file in sorted(self.path.rglob("*")):
            if file.is_file() and file.stat().st_size:
                parts.append(f"--- {file.relative_to(self.path)}\n{file.read_text(errors='replace')[-1500:]}")
        return "\n".join(parts) or f"nothing in {self.path}"


class Machine:
    def __init__(self, out, status, text):
        self.out, self.status, self.text = out, status, text

    def seen(self, scenario):
        path = self.out / scenario
        assert path.exists(), f"{scenario} was not reached: the machine ended with status {self.status}\n{self.text}"
        seen = Seen(path)
        assert (path / "status").exists() and seen.number("status") == 0, f"{scenario} did not run to its end\n{seen}"
        return seen


def boot(out, swap_mib, scenarios):
    programs = out / "bin"
    programs.mkdir(parents=True)
    for name in ("hog", "race"):
        shutil.copy2(ROOT / "build/bench" / name, programs)
    shutil.copy2(vigil_path(), programs / "vigil")
    installed = out / "installed"
    done = subprocess.run(["meson", "install", "-C", ROOT / "build", "--no-rebuild", "--quiet", "--destdir", installed],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    command = [HERE / "run-in-vm.sh", "--mem", "512", "--swap", str(swap_mib), "--timeout", "480", "--out", out / "seen",
               "--share", f"{programs}:/b:ro", "--share", f"{HERE}:/t:ro", "--share", f"{ROOT / 'bench'}:/bench:ro",
               "--share", f"{installed}:/installed:ro",
               "--env", "VIGIL=/b/vigil",
               "--", "bash", "/t/guest/run-scenarios.sh", *scenarios]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", timeout=600,
                          stdin=subprocess.DEVNULL)
    text = done.stdout + done.stderr
    print(text, file=sys.stderr)
    return Machine(out / "seen", done.returncode, text[-3000:])
