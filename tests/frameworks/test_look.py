"""vigil stack and vigil flame on real frameworks: the user's functions, the libraries below them, the workers by role."""
import pathlib
import re
import sys

import pytest

from conftest import wait_for

HERE = pathlib.Path(__file__).parent


@pytest.fixture
def program(begin):
    return lambda script, *args: begin(sys.executable, "-u", HERE / script, *args)


def unharmed(pid):
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        status = (task / "status").read_text()
        assert "TracerPid:\t0\n" in status and re.search(r"^State:\t[RSD]", status, re.M), status


def paths(answer):
    """[(lane, [frames, root first], samples)] of a recording."""
    nodes, found = answer["nodes"], []
    for at, node in enumerate(nodes):
        n = sum(node.get(state, 0) for state in ("running", "idle", "gil_wait"))
        frames = []
        while "parent" in nodes[at]:
            frames.append(answer["frames"][nodes[at]["frame"]])
            at = nodes[at]["parent"]
        if n:
            found.append((answer["lanes"][nodes[at]["lane"]], frames[::-1], n))
    return found


def record(vigil, pid, *options):
    result = vigil("flame", pid, "--format", "json", *options)
    assert result.status == 0, result
    return result.json()


def merged_well(answer):
    """At least 99.9 % of the stacks of both kinds fit; with fewer than a thousand all of them."""
    meta = answer["meta"]
    assert meta["merged"] > 50, meta
    assert meta.get("approximate", 0) <= (meta["merged"] + meta.get("approximate", 0)) / 1000, meta
    assert meta["dropped"] <= meta["samples"] / 100, meta


def test_numpys_library_is_below_the_line_that_calls_it(vigil, program):
    pytest.importorskip("numpy", reason="numpy is not installed; tools/setup frameworks does it")
    process = program("look_numpy.py")
    answer = record(vigil, process.pid, "-d", 3, "--native")
    merged_well(answer)
    below = [[f.get("module", "") for f in frames if f["kind"] == "native"]
             for _, frames, _ in paths(answer) if any(f["name"] == "multiply" and f.get("line") == 6 for f in frames)]
    assert any(re.search("multiarray|numpy", m) for modules in below for m in modules), below[:3]
    assert any(re.search("blas", m) for modules in below for m in modules), below[:3]
    unharmed(process.pid)


# a torch that names its workers has loaders, an older one workers
SERVES = ("loader", "worker")


@pytest.mark.parametrize("native", [False, True], ids=["python", "native"])
def test_a_torch_loader_shows_its_workers_by_role(vigil, program, native):
    pytest.importorskip("torch", reason="python3-torch is not installed; tools/setup frameworks does it")
    process = program("look_torch.py")
    options = ["--native"] if native else []
    result = vigil("stack", process.pid, "--json", "--threads", "all", *options)
    assert result.status == 0, result
    roles = [p["role"] for p in result.json()["processes"]]
    assert sum(r in SERVES for r in roles) == 2 and roles.count("main") == 1, roles
    for p in result.json()["processes"]:
        for t in p["threads"]:
            told = pathlib.Path(f"/proc/{p['pid']}/task/{t['tid']}/comm").read_text().strip()
            assert t["name"] == told or re.fullmatch(r"QueueFeederThread|Thread-\d+ \(.+\)", t["name"]), t
        if p["role"] in SERVES and sys.version_info < (3, 14):  # from then on the kernel knows it, cut
            assert "QueueFeederThread" in [t["name"] for t in p["threads"]], p
    answer = record(vigil, process.pid, "-d", 3, *options)
    seen = paths(answer)
    loaders = [frames for lane, frames, _ in seen if lane["role"] in SERVES]
    main = [frames for lane, frames, _ in seen if lane["role"] == "main"]
    assert any({"_worker_loop", "Noise.make"} & {f["name"] for f in frames} for frames in loaders), loaders[:2]
    assert any("torch/utils/data/" in f.get("file", "") for frames in loaders for f in frames)
    assert any(f["name"] in ("step", "main") for frames in main for f in frames), main[:2]
    if native:
        merged_well(answer)
        assert any(f.get("module", "").startswith("libtorch") for frames in loaders + main for f in frames)
        make = [frames for frames in loaders if any(f["name"] in ("make", "Noise.make") for f in frames)]
        assert any(f["kind"] == "native" and "torch" in f.get("module", "") for frames in make for f in frames), make[:2]
    for process_ in result.json()["processes"]:
        unharmed(process_["pid"])


def test_rays_workers_show_the_users_functions(vigil, ray, tmp_path):
    driver = vigil.start("-u", HERE / "look_ray.py", tmp_path, binary=ray.python, prefix=ray.prefix, env=ray.env)
    pids = {}
    for kind in ("actor", "task"):
        wait_for(lambda path=tmp_path / kind: path.exists() and path.read_text(), 90, f"Ray's {kind} to begin")
        pids[kind] = int((tmp_path / kind).read_text())
    for options in ([], ["--native"]):
        frames = {}
        for kind, pid in pids.items():
            result = vigil("stack", pid, "--json", *options)
            assert result.status == 0, result
            frames[kind] = {f["name"] for p in result.json()["processes"] for t in p["threads"] for f in t["frames"]}
        assert "gradient_of" in frames["actor"] and any("learn" in name for name in frames["actor"]), frames["actor"]
        assert "preprocess" in frames["task"], frames["task"]
    # Ray's own servers lie below a Python's folder, and are programs in C++.
    servers = [p for p in vigil("stack", driver.pid, "--json").json()["processes"] if p["name"] in ("gcs_server", "raylet")]
    assert len(servers) == 2 and not any("python" in p for p in servers), servers
    for server in servers:
        main = server["threads"][0]["frames"]
        assert main[0]["name"].startswith("epoll") and main[-1]["name"] == "_start", main
    answer = record(vigil, pids["actor"], "-d", 2, "--native")
    merged_well(answer)
    seen = paths(answer)
    assert any(f["name"] == "gradient_of" for _, frames, _ in seen for f in frames), seen[:2]
    assert any("_raylet" in f.get("module", "") for _, frames, _ in seen for f in frames)
    for pid in pids.values():
        unharmed(pid)
    (tmp_path / "end").touch()
    assert vigil.finish(driver, 90).out == b"done\n"
