"""Where root's `vigil map` writes, in a folder of a user's: nothing of root's is overwritten through a link, and no FIFO holds it."""
import os

import pytest

from strangerkit import ATTACKER, home, needs_root, place  # noqa: F401

pytestmark = needs_root

BEFORE = b"root's own words\n"


@pytest.fixture
def secret(tmp_path):
    """A file of root's in a folder that nobody else may pass."""
    tmp_path.chmod(0o700)
    file = tmp_path / "secret"
    file.write_bytes(BEFORE)
    return file


def link(path, to):
    path.symlink_to(to)
    os.chown(path, ATTACKER, ATTACKER, follow_symlinks=False)
    return path


@pytest.mark.parametrize("option", ["--joblog", "--results"])
def test_a_link_leads_to_nothing_of_roots(vigil, home, secret, option):
    name = link(home / "out.csv", secret)
    result = vigil("map", option, name, "echo", "{}", ":::", "1", "2", timeout=60)
    assert secret.read_bytes() == BEFORE
    assert result.status != 0 and str(name) in result.text and "ermission denied" in result.text, result


@pytest.mark.parametrize("option", ["--joblog", "--results"])
def test_nor_does_one_on_the_way(vigil, home, secret, option):
    link(home / "way", secret.parent)
    result = vigil("map", option, home / "way" / "secret", "echo", "{}", ":::", "1", timeout=60)
    assert secret.read_bytes() == BEFORE
    assert result.status != 0 and "ermission denied" in result.text, result


def test_folders_of_results_are_made_by_the_user(vigil, home, secret):
    link(home / "results", secret.parent)
    result = vigil("map", "--results", home / "results", "echo", "{}", ":::", "1", timeout=60)
    assert [p.name for p in secret.parent.iterdir() if p.name != "state"] == ["secret"], result
    made = home / "made"
    result = vigil("map", "--results", made, "echo", "{}", ":::", "1", timeout=60)
    assert result.status == 0, result
    assert (made / "1" / "1" / "stdout").read_bytes() == b"1\n"
    assert {p.stat().st_uid for p in [made, made / "1", made / "1" / "1" / "stdout"]} == {ATTACKER}


def test_a_log_in_a_users_folder_is_the_users_and_goes_on(vigil, home):
    log = home / "log"
    for _ in range(2):
        assert vigil("map", "--joblog", log, "--resume", "echo", "{}", ":::", "1", "2", timeout=60).status == 0
    assert log.stat().st_uid == ATTACKER and len(log.read_text().splitlines()) == 3


@pytest.mark.parametrize("given", [["--results"], ["-a"]])
def test_a_fifo_of_a_users_is_not_waited_for(vigil, home, given):
    fifo = home / "fifo.csv"
    os.mkfifo(fifo)
    os.chown(fifo, ATTACKER, ATTACKER)
    result = vigil("map", *given, fifo, "echo", "{}", *([] if given == ["-a"] else [":::", "1"]), timeout=20)
    assert result.status not in (0, 137), result
    assert "fifo.csv" in result.text


@pytest.mark.parametrize("command", [["report", "--html"], ["timeline", "-o"]])
def test_a_report_goes_through_no_link_either(vigil, home, secret, command):
    assert vigil("run", "true", timeout=60).status == 0
    link(home / "way", secret.parent)
    name = link(home / "out.html", secret)
    for path in (name, home / "way" / "secret"):
        vigil(command[0], "last", command[1], path, timeout=60)
        assert secret.read_bytes() == BEFORE
    made = home / "made.html"
    result = vigil(command[0], "last", command[1], made, timeout=60)
    assert result.status == 0 and made.stat().st_uid == ATTACKER, result


@pytest.mark.parametrize("processes", [1, 2])
def test_nor_does_a_profile(vigil, home, secret, processes):
    """Of several processes it is a folder."""
    grow = "python3 -c 'x = [bytearray(1 << 16) for _ in range(2000)]'"
    vigil("run", "--heap", "--", "sh", "-c", "; ".join([grow] * processes), timeout=60)
    folder = secret.parent
    (folder / "kept.heap").write_bytes(BEFORE)
    link(home / "way", folder)
    before = sorted(folder.iterdir())
    for name in ("kept.heap", "new.heap"):
        vigil("heap", "last", "-o", home / "way" / name, timeout=60)
        assert (folder / "kept.heap").read_bytes() == BEFORE and sorted(folder.iterdir()) == before
    made = home / "made.heap"
    result = vigil("heap", "last", "-o", made, timeout=60)
    assert made.stat().st_uid == ATTACKER, result
