"""vigil collectives: dumps of all ranks compared, rings of the plugin, and NCCL's RAS played by a server."""
import json
import os
import socket
import subprocess
import sys
import time

import pytest

from conftest import ROOT
from ranksim import RasServer, Rank, ras_report, world


VIGIL = os.environ.get("VIGIL", str(ROOT / "build/src/cli/vigil"))


def ask(*args, timeout=60, **env):
    p = subprocess.run([VIGIL, "collectives", *map(str, args)], capture_output=True, text=True, timeout=timeout,
                       env={**os.environ, **env})
    return p


def verdict(*args, **env):
    p = ask(*args, "--json", **env)
    assert p.stdout, p.stderr
    j = json.loads(p.stdout)
    assert j["schema"] == "vigil.collectives/1"
    j["status"] = p.returncode
    return j


def write(ranks, folder, **how):
    return [r.write(folder, **how) for r in ranks]


@pytest.mark.parametrize("form", ["pickle", "json"])
def test_a_missing_rank_is_named(tmp_path, form):
    ranks = world(4)
    for r in ranks:
        r.call().call("all_gather")
        if r.rank != 2:
            r.call(done=False, line=52)
    files = write(ranks, tmp_path, form=form)
    j = verdict(*files)
    assert (j["kind"], j["culprit_ranks"], j["confidence"], j["status"]) == ("missing", [2], "high", 1)
    assert (j["op"], j["number"], j["group"]) == ("all_reduce", 3, "default_pg")
    if form == "pickle":
        assert "train.py:52 (step)" in j["text"]
    text = ask(tmp_path)
    assert text.returncode == 1 and "rank 2 did not join" in text.stdout and "What to do" in text.stdout


def test_mixed_versions_forms_and_a_cut_dump(tmp_path):
    ranks = world(4)
    for r in ranks:
        for _ in range(20):
            r.call()
        if r.rank:
            r.call(done=False)
    ranks[1].version, ranks[2].version = "2.10", "2.1"
    files = [ranks[0].write(tmp_path), ranks[1].write(tmp_path, form="json"), ranks[2].write(tmp_path),
             ranks[3].write(tmp_path, cut=0.6)]
    j = verdict(*files)
    assert (j["kind"], j["culprit_ranks"]) == ("missing", [0])
    assert any("rank 3" in n and "not whole" in n for n in j["not_read"])


@pytest.mark.parametrize("cut", [0.02, 0.1, 0.3, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("form", ["pickle", "json"])
def test_a_cut_dump_is_never_blamed_for_what_it_lost(tmp_path, form, cut):
    ranks = world(4)
    for r in ranks:
        for _ in range(10):
            r.call()
        if r.rank != 1:
            r.call(done=False)
    files = [r.write(tmp_path, form=form, cut=cut if r.rank == 3 else None) for r in ranks]
    j = verdict(*files)
    assert (j["kind"], j["culprit_ranks"]) == ("missing", [1])


def test_no_dump_is_evidence(tmp_path):
    ranks = world(8)
    for r in ranks:
        r.call().call(done=False)
    files = write([r for r in ranks if r.rank != 5], tmp_path)
    j = verdict(*files)
    assert (j["kind"], j["culprit_ranks"], j["confidence"]) == ("missing", [5], "medium")
    assert {r["rank"]: r for r in j["ranks"]}[5]["why"] == "no dump of it was given"


def test_one_order_inverted_over_two_groups(tmp_path):
    ranks = world(4, {"0": ("dp", range(4)), "1": ("tp", range(4))})
    for r in ranks:
        r.call(group="1" if r.rank == 3 else "0", done=False)
    j = verdict(*write(ranks, tmp_path))
    assert (j["kind"], j["culprit_ranks"]) == ("cycle", [3])


@pytest.mark.parametrize("what", ["size", "dtype", "op"])
def test_mismatches(tmp_path, what):
    ranks = world(8)
    for r in ranks:
        odd = r.rank == 6
        r.call().call("all_gather" if odd and what == "op" else "all_reduce", (7,) if odd and what == "size" else (8,),
                      False, dtype="Half" if odd and what == "dtype" else "Float")
    j = verdict(*write(ranks, tmp_path))
    assert (j["kind"], j["culprit_ranks"], j["confidence"]) == ("mismatch", [6], "high")


@pytest.mark.parametrize("only_open", [False, True])
def test_two_stopped_gpus_of_sixteen(tmp_path, only_open):
    """Expert groups of eight, tensor groups of four. Ranks 9 and 14 end nothing any more, and their hosts are a call
    behind: the others have ended what the two still hold, and wait in what the two never asked for."""
    groups = [{"0": ("expert", range(r // 8 * 8, r // 8 * 8 + 8)), "1": ("tensor", range(r // 4 * 4, r // 4 * 4 + 4))}
              for r in range(16)]
    ranks = [Rank(r, groups[r], "2.9") for r in range(16)]
    for r in ranks:
        stopped, upper = r.rank in (9, 14), r.rank >= 8
        for _ in range(5):
            r.call("all_to_all", group="0").call("_all_gather_base", group="1")
        for _ in range(3):
            r.call("all_to_all", group="0", done=not stopped)
            r.call("_all_gather_base", group="1", done=not stopped)
        if upper and not stopped:
            r.call("all_to_all", group="0", done=False).call("all_to_all", group="0", done=False)
        if not upper:
            r.call("all_reduce", group="1", done=False)
        if only_open:
            r.only_open()
    j = verdict(*write(ranks, tmp_path))
    assert (j["kind"], j["culprit_ranks"], j["confidence"], j["status"]) == ("device", [9, 14], "high", 1), j["text"]
    assert any("Xid" in a and "vigil gpus" in a for a in j["advice"])
    split = next(w for w in j["waits"] if w["op"] == "all_to_all" and w["number"] == 6)
    assert split["waiting_ranks"] == [9, 14] and sorted(split["ended_ranks"]) == [8, 10, 11, 12, 13, 15]
    asked = next(w for w in j["waits"] if w["op"] == "all_to_all" and w["number"] == 9)
    assert asked["missing_ranks"] == [9, 14]


def test_ranks_whose_calls_have_all_ended_are_not_missing(tmp_path):
    """A dump of open calls only has none of a rank that waits for nothing in this group: it has made its calls."""
    ranks = world(4, version="2.9")
    for r in ranks:
        r.call().call(done=r.rank != 2).only_open()
    j = verdict(*write(ranks, tmp_path))
    assert (j["kind"], j["culprit_ranks"]) == ("device", [2])


def test_uneven_gathers_hide_nobody(tmp_path):
    ranks = world(4, version="2.10")
    for r in ranks:
        for _ in range(3):
            for i in range(4):
                r.call("_broadcast_oop", (5 + i,)).seq["0"] -= 1
            r.call("ALLGATHER_coalesced", ())
        r.call()
    j = verdict(*write(ranks, tmp_path))
    assert (j["kind"], j["culprit_ranks"], j["status"]) == ("none", [], 0)
    for r in ranks:
        if r.rank != 1:
            r.call(done=False)
    j = verdict(*write(ranks, tmp_path))
    assert (j["kind"], j["culprit_ranks"], j["confidence"]) == ("missing", [1], "high")


def test_a_send_of_another_size_than_its_receive(tmp_path):
    ranks = world(2)
    ranks[0].call("send 0->1", (16, 8)).call("send 0->1", (12, 8), done=False, line=70)
    ranks[1].call("recv 1<-0", (16, 8)).call("recv 1<-0", (16, 8), done=False, line=90)
    j = verdict(*write(ranks, tmp_path))
    assert (j["kind"], j["culprit_ranks"]) == ("mismatch", [0, 1])
    assert "rank 0 sends [[12, 8]] at /srv/train.py:70" in j["text"] and "[[16, 8]]" in j["text"]


def test_pipeline_send_without_receive(tmp_path):
    ranks = world(4)
    for r in ranks:
        r.call()
    ranks[0].call("send 0->1", done=False)
    ranks[1].call("recv 1<-0").call("send 1->2", done=False)
    j = verdict(*write(ranks, tmp_path))
    assert (j["kind"], j["culprit_ranks"]) == ("p2p", [2])


REAL = ROOT / "tests/fixtures/nccl"


@pytest.mark.parametrize("files, kind, culprits, number, says", [
    ("skips_rank_*", "mismatch", [0, 1], 473, "rank 1 called all_reduce of [[1024]]"),
    ("waits_rank_*", "missing", [1], 473, "at /job/cuda_jobs.py:122 (ranks); rank 1 did not join"),
    ("one_rank_0", "equal", [], 61, "at /job/cuda_jobs.py:139 (one_rank_of_nccl)"),
    ("ras-2.30.7.json", "missing", [1], 480, "0x726b0b0d8b464369/0x78bc2b116e34b0e2:0xfa1a048aca8e96ec; rank 1 did not join"),
    ("ras-2.30.7.txt", "missing", [1], 480, "rank 1 did not join"),
])
def test_what_a_real_nccl_left(files, kind, culprits, number, says):
    """Two ranks of NCCL 2.30.7 (one: 2.28.9) under PyTorch 2.11 on an H200: one left a call out, waited, or was alone."""
    j = verdict(*sorted(REAL.glob(files)))
    assert (j["kind"], j["culprit_ranks"], j["number"], j["op"]) == (kind, culprits, number, "all_reduce"), j
    assert says in j["text"], j


def test_equal_counts(tmp_path):
    ranks = world(4)
    for r in ranks:
        r.call().call(done=False)
    j = verdict(*write(ranks, tmp_path))
    assert (j["kind"], j["culprit_ranks"], j["status"]) == ("equal", [], 1)


def test_nothing_waits(tmp_path):
    ranks = world(2)
    for r in ranks:
        r.call()
    j = verdict(*write(ranks, tmp_path))
    assert (j["kind"], j["status"]) == ("none", 0)


def test_64_ranks_of_2000_entries(tmp_path):
    ranks = world(64)
    for r in ranks:
        # a ring that has wrapped, and not at the same number everywhere
        r.seq["0"] = 100_000 + r.rank % 7
        for i in range(2000 - r.rank % 7):
            r.call(("all_reduce", "all_gather", "reduce_scatter")[(r.seq["0"] + 1) % 3])
        if r.rank != 41:
            r.call("all_reduce", done=False)
    files = write(ranks, tmp_path)
    begin = time.monotonic()
    j = verdict(*files)
    assert time.monotonic() - begin < 30
    assert (j["kind"], j["culprit_ranks"], j["confidence"]) == ("missing", [41], "high")


def test_bad_files_are_told(tmp_path):
    (tmp_path / "rank_0").write_bytes(b"")
    (tmp_path / "rank_1").write_bytes(b"\x7fELF not a dump")
    (tmp_path / "rank_2").write_bytes(b"\x80\x02}q\x00.")
    Rank(3, {"0": ("default_pg", range(4))}).call().write(tmp_path, name="no_number_")
    (tmp_path / "no_number_3").rename(tmp_path / "dump")
    j = verdict(*(tmp_path / n for n in ("rank_0", "rank_1", "rank_2", "dump", "absent/rank_9")))
    assert j["status"] == 4 and len(j["not_read"]) == 5
    assert "empty" in j["not_read"][0] and "neither a pickle" in j["not_read"][1]
    assert "does not end in the number" in j["not_read"][3]
    assert ask("nosuchjob", VIGIL_STATE_DIR=str(tmp_path / "state")).returncode == 4
    assert ask("--ras-addr", "nowhere.example:1", "1").returncode == 2


# A running job: ranks are sleepers with RANK set, below one parent.
PARENT = """
import os, subprocess, sys, time
n = int(sys.argv[1])
ps = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"],
                       env={**os.environ, "RANK": str(r), "LOCAL_RANK": str(r), "WORLD_SIZE": str(n)}) for r in range(n)]
print(*[p.pid for p in ps], flush=True)
sys.stdin.read()
for p in ps: p.kill()
"""


class Job:
    def __init__(self, n, **env):
        self.process = subprocess.Popen([sys.executable, "-c", PARENT, str(n)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env={**os.environ, **env})
        self.pids = [int(p) for p in self.process.stdout.readline().split()]
        self.pid = self.process.pid
        deadline = time.monotonic() + 20
        # RANK is there once they have executed
        for pid in self.pids:
            while b"RANK=" not in open(f"/proc/{pid}/environ", "rb").read():
                assert time.monotonic() < deadline
                time.sleep(0.01)

    def end(self):
        self.process.stdin.close()
        self.process.wait(20)


@pytest.fixture
def job(request):
    made = []

    def make(n, **env):
        made.append(Job(n, **env))
        return made[-1]
    yield make
    for j in made:
        j.end()


def test_a_running_job_by_its_dumps(job, tmp_path):
    j = job(3, TORCH_NCCL_DEBUG_INFO_TEMP_FILE=str(tmp_path / "fr_"))
    ranks = world(3)
    for r in ranks:
        r.call()
        if r.rank != 1:
            r.call(done=False)
    write(ranks, tmp_path, name="fr_")
    v = verdict(j.pid, "--no-ras")
    assert (v["kind"], v["culprit_ranks"]) == ("missing", [1])


def test_a_link_is_no_dump_and_no_pipe(job, tmp_path):
    """Whoever can write there could lead a vigil of root into files that are none of theirs."""
    real = tmp_path / "elsewhere"
    real.mkdir()
    j = job(3, TORCH_FR_DUMP_TEMP_FILE=str(tmp_path / "fr_"), TORCH_NCCL_DEBUG_INFO_PIPE_FILE=str(tmp_path / "pipe_"))
    ranks = world(3)
    for r in ranks:
        r.call()
        if r.rank != 1:
            r.call(done=False)
    for r, file in enumerate(write(ranks, real, name="fr_")):
        (tmp_path / f"fr_{r}").symlink_to(file)
    os.mkfifo(real / "pipe")
    (tmp_path / "pipe_0.pipe").symlink_to(real / "pipe")
    reader = os.open(real / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    said = ask(j.pid, "--no-ras", "--dump", "--wait", "1s", "--json")
    assert os.read(reader, 1) == b"", "nothing was written through the link"
    os.close(reader)
    assert '"culprit_ranks":[1]' not in said.stdout.replace(" ", ""), said.stdout


def test_dumps_are_asked_for_through_pipes(job, tmp_path):
    pipes = tmp_path / "pipe_"
    j = job(2, TORCH_FR_DUMP_TEMP_FILE=str(tmp_path / "fr_"), TORCH_NCCL_DEBUG_INFO_PIPE_FILE=str(pipes))
    ranks = world(2)
    ranks[0].call(done=False)
    for r in range(2):
        os.mkfifo(f"{pipes}{r}.pipe")
    # rank 0 listens and answers; nobody reads rank 1's pipe
    reader = os.open(f"{pipes}0.pipe", os.O_RDONLY | os.O_NONBLOCK)
    p = subprocess.Popen([VIGIL, "collectives", str(j.pid), "--no-ras", "--dump", "--json"], stdout=subprocess.PIPE)
    deadline = time.monotonic() + 20
    while not os.read(reader, 1):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    ranks[0].write(tmp_path, name="fr_")
    out, _ = p.communicate(timeout=40)
    os.close(reader)
    v = json.loads(out)
    assert (v["kind"], v["culprit_ranks"]) == ("missing", [1])
    assert any("rank 1: nobody listens" in n for n in v["not_read"])


@pytest.mark.parametrize("manner", ["json", "comma", "v6"])
def test_ras_names_who_is_behind(job, manner):
    j = job(4)
    family = socket.AF_INET6 if manner == "v6" else socket.AF_INET
    server = RasServer([ras_report(j.pids, [41, 41, 41, 40])], "json" if manner == "v6" else manner, family)
    v = verdict(j.pid, "--ras-addr", server.address, "--force")
    server.close()
    assert (v["kind"], v["culprit_ranks"], v["confidence"]) == ("missing", [3], "high")
    assert "STATUS" in server.commands and server.commands[0] == "CLIENT PROTOCOL 2"


def test_ras_that_moves_is_no_hang(job):
    j = job(2)
    server = RasServer([ras_report(j.pids, [41, 40]), ras_report(j.pids, [57, 56])])
    v = verdict(j.pid, "--ras-addr", server.address, "--force")
    server.close()
    assert (v["kind"], v["status"]) == ("none", 0)


@pytest.mark.parametrize("how,kind,culprits", [
    (dict(missing=[2]), "dead", [2]), (dict(finished=[0, 1]), "uneven", [0, 1]), (dict(starting=[0, 1, 2, 3]), "init", []),
    (dict(), "equal", [])])
def test_ras_states(job, how, kind, culprits):
    j = job(4)
    server = RasServer([ras_report(j.pids, [5, 5, 5, 5], **how)], "comma")
    v = verdict(j.pid, "--ras-addr", server.address, "--force")
    server.close()
    assert (v["kind"], v["culprit_ranks"]) == (kind, culprits)


TEXT = """NCCL version 2.27.7 compiled with CUDA 12.4
Errors
======

Warnings
========

#0-0 (00000000deadbeef) MISMATCH
  Communicator ranks have different AllReduce operation counts
  3 ranks have launched up to operation 41
  Rank 0 -- GPU 0 managed by process {} on node 127.0.0.1
  Rank 1 -- GPU 1 managed by process {} on node 127.0.0.1
  Rank 2 -- GPU 2 managed by process {} on node 127.0.0.1
  Rank 3 has launched up to operation 40 -- GPU 3 managed by process {} on node 127.0.0.1

"""


def test_ras_of_an_old_nccl_answers_in_text(job):
    j = job(4)
    server = RasServer([TEXT.format(*j.pids)], "text")
    v = verdict(j.pid, "--ras-addr", server.address, "--force")
    server.close()
    assert (v["kind"], v["culprit_ranks"]) == ("missing", [3])
    assert server.commands[-1] == "VERBOSE STATUS"


def test_ras_of_another_job_is_not_believed(job):
    j = job(2)
    server = RasServer([ras_report([999999, 999998], [41, 40])])
    v = verdict(j.pid, "--ras-addr", server.address, "--force")
    server.close()
    assert "kind" not in v and any("another job" in n for n in v["not_read"])
    # once the right one answers, it is taken
    server = RasServer([ras_report([999999, 999998], [41, 40])] * 3 + [ras_report(j.pids, [41, 40])])
    v = verdict(j.pid, "--ras-addr", server.address, "--force")
    server.close()
    assert (v["kind"], v["culprit_ranks"]) == ("missing", [1])


@pytest.mark.parametrize("manner,says", [("garbage", "does not talk"), ("stall", "in time"), ("drop", "")])
def test_ras_that_misbehaves_costs_no_more_than_the_wait(job, manner, says):
    j = job(2)
    server = RasServer([ras_report(j.pids, [41, 40])], manner)
    begin = time.monotonic()
    v = verdict(j.pid, "--ras-addr", server.address, "--force", "--wait", "4s")
    server.close()
    assert time.monotonic() - begin < 20
    assert manner == "drop" or ("kind" not in v and any(says in n for n in v["not_read"]))


def test_ras_is_not_asked_unless_it_is_safe(job):
    j = job(2)
    server = RasServer([ras_report(j.pids, [41, 40])])
    v = verdict(j.pid, "--ras-addr", server.address)
    assert any("not asked" in n and "--force" in n for n in v["not_read"]) and not server.commands
    off = job(2, NCCL_RAS_ENABLE="0")
    v = verdict(off.pid, "--ras-addr", server.address, "--force")
    server.close()
    assert any("switched off" in n for n in v["not_read"]) and not server.commands


def test_nobody_at_the_address(job):
    j = job(1)
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    v = verdict(j.pid, "--ras-addr", f"127.0.0.1:{port}", "--force")
    assert any("nobody listens" in n for n in v["not_read"])


def test_of_a_job_that_has_ended_and_left_nothing_that_is_said(vigil):
    assert vigil("run", "--", "true").status == 0
    result = vigil("collectives", "last")
    said = result.out.decode()
    assert result.status == 4 and "no process of it is left" in said and "--collectives" in said, result
