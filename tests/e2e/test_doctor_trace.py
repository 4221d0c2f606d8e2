"""`vigil doctor FILE`: traces in Chrome's format, whole, packed, cut off, and no traces."""
import gzip
import json
import subprocess

import pytest


def tasks(rows, name="task::f"):
    """Ray's events: [(row, begin in ms, length in ms)]."""
    return [{"cat": name, "name": name, "ph": "X", "pid": "10.0.0.3", "tid": f"worker:{row}", "ts": begin * 1000.0,
             "dur": length * 1000.0, "cname": "rail_load", "args": {"task_id": "ab" * 24}} for row, begin, length in rows]


UNEVEN = tasks([(w, r * 400, 400 if w == 0 else 100) for r in range(5) for w in range(4)])


def doctor(vigil, path):
    result = vigil("doctor", path, "--json")
    assert result.status in (0, 1), result
    return result.json()


@pytest.mark.parametrize("rows, finding, speedup", [
    ([(w, i * 2, 0.5) for w in range(4) for i in range(50)], "tiny-tasks", 3.6),
    ([(0, i * 501, 500) for i in range(5)], "one-worker", 5.0),
    ([(i % 4, i * 100, 100) for i in range(40)], "one-at-a-time", 4.0),
    ([(w, r * 400, 400 if w == 0 else 100) for r in range(5) for w in range(4)], "uneven-tasks", 2000 / 900),
    ([(w, r * 200, 100) for r in range(5) for w in range(4)], "idle-gaps", 1.8),
])
def test_what_holds_tasks_back_is_named_first(vigil, tmp_path, rows, finding, speedup):
    (tmp_path / "t.json").write_text(json.dumps(tasks(rows)))
    told = doctor(vigil, tmp_path / "t.json")
    assert told["findings"][0]["id"] == finding
    assert told["findings"][0]["speedup"] == pytest.approx(speedup, rel=0.05)
    assert told["trace"]["kind"] == "ray" and told["trace"]["tasks"] == len(rows) and not told["trace"]["cut_off"]


def test_a_file_whose_name_could_be_a_jobs_is_read_where_no_job_has_it(vigil, tmp_path):
    (tmp_path / "epoch").write_text(json.dumps(UNEVEN))
    told = vigil("doctor", "epoch", "--json", cwd=tmp_path).json()
    assert told["findings"][0]["id"] == "uneven-tasks"
    vigil("run", "--name", "epoch", "true", cwd=tmp_path)
    assert vigil("doctor", "epoch", cwd=tmp_path).status == 4  # the job goes before the file, and has ended


def test_busy_workers_have_no_finding(vigil, tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(tasks([(w, i * 101, 100) for w in range(4) for i in range(50)])))
    assert doctor(vigil, tmp_path / "t.json")["findings"] == []


def test_an_object_and_a_packed_file_say_the_same_as_the_array(vigil, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(UNEVEN))
    (tmp_path / "o.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": UNEVEN, "traceName": "x"}, indent=1))
    with gzip.open(tmp_path / "a.json.gz", "wt") as f:
        json.dump(UNEVEN, f)
    told = [doctor(vigil, tmp_path / name)["findings"] for name in ("a.json", "o.json", "a.json.gz")]
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("packed", [False, True])
def test_of_a_file_that_is_cut_off_what_is_there_is_judged_and_that_is_said(vigil, tmp_path, packed):
    whole = json.dumps(UNEVEN * 20).encode()
    whole = gzip.compress(whole) if packed else whole
    path = tmp_path / ("t.json.gz" if packed else "t.json")
    path.write_bytes(whole[:len(whole) * 3 // 4])
    told = doctor(vigil, path)
    assert told["trace"]["cut_off"] and 0 < told["trace"]["events"] < len(UNEVEN) * 20
    assert b"ends within" in vigil("doctor", path).out


@pytest.mark.parametrize("content, word", [
    (b"", "empty"), (b"hello", "no trace"), (b"{}", "no trace"), (b"[]", "no event"), (b"[1, 2, 3]", "no event"),
    (b"\x1f\x8b", "unpacked"), (b"\x1f\x8bgarbage that is no gzip", "unpacked"), (b"\x00" * 5000, "no trace"),
    (b"[" * 5000, "no event"), (b'{"traceEvents": 5}', "no trace"), (b'[{"ph": "X", "ts": "x", "dur": -1}]', "no event"),
])
def test_what_is_no_trace_is_refused_with_one_sentence(vigil, tmp_path, content, word):
    (tmp_path / "t.json").write_bytes(content)
    result = vigil("doctor", tmp_path / "t.json")
    assert result.status == 1 and result.out == b""
    assert word in result.text and result.text.count("\n") == 1, result


def test_files_that_cannot_be_read_are_told_apart(vigil, tmp_path):
    assert vigil("doctor", tmp_path / "none.json").status == 4
    assert vigil("doctor", str(tmp_path) + "/").status == 1
    assert vigil("doctor", "/dev/zero").status == 1
    subprocess.run(["mkfifo", tmp_path / "f.json"], check=True)
    assert vigil("doctor", tmp_path / "f.json", timeout=20).status == 1


def test_names_from_a_file_do_not_reach_the_terminal_raw(vigil, tmp_path):
    name = "task::\x1b[31mred"
    (tmp_path / "t.json").write_text(json.dumps(tasks([(w, i * 2, 0.5) for w in range(4) for i in range(50)], name)))
    assert b"\x1b" not in vigil("doctor", tmp_path / "t.json").out
