"""What goes wrong in training jobs by the book, each from end to end: a job that does it, and what `vigil why` says.

Copies from an object store, storage that is silent, ranks that were not told where to meet, NCCL that says nothing, InfiniBand
that does not answer, synchronised batch normalisation, TensorBoard on remote storage, data loaders, uneven epochs. Those about
forks, GPUDirect, exceptions and ranks given twice are in test_hang.py.
"""
import subprocess

import psutil
import pytest

from conftest import wait_for, workload
from deadkit import dead_files  # noqa: F401
from hangkit import events

RANKS = 3
PREFIX_SHM = ("unshare", "-m", "--", "/bin/sh", "-c", 'mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$@"', "-")


@pytest.fixture
def judged(vigil):
    """judged("copy", words of hangs.py) gives the report of the hang for which the job was ended."""
    def run(what, *words, options=(), spawned=False, after="4s", timeout=100, **start):
        ranks = () if spawned else ("--nproc", RANKS)
        words = (*words, "--spawn", RANKS) if spawned else words
        result = vigil("run", "--hang-after", after, "--on-hang", "kill", *ranks, *options, "--",
                       *workload("hangs", what, "--steps", 400, *words), timeout=timeout, **start)
        assert result.status == 124, result
        report = vigil.why()
        assert report["kind"] == "hang" and report["cause"]["advice"], report
        return report
    return run


def looks(report):
    return report["cause"]["id"], report.get("culprit_ranks", [])


def advice(report):
    return " ".join(report["cause"]["advice"])


def shown(report):
    return " ".join(e["text"] for e in report["evidence"])


# A copy of data ---------------------------------------------------------------------------------------------------

def test_a_copy_from_an_object_store_that_is_silent(judged):
    report = judged("copy", "--at", 20)
    assert looks(report) == ("data_copy_stuck", [1]) and report["cause"]["confidence"] == "high", report
    assert "copy_parallel" in report["cause"]["text"]
    assert "is_processing=False" in advice(report) and "_LARGE_FILE_TASK_NUM" in advice(report), report
    assert "copy_to_object_store" in shown(report), "the cause book says so as well"


def test_a_copy_from_storage_that_is_silent(judged, dead_files):
    """State D. sendfile's first argument is where it goes to, and that is not what is silent."""
    folder = dead_files()
    report = judged("copy_file", "--at", 20, "--file", folder / "data")
    assert looks(report) == ("storage_stall", [1]) and report["cause"]["confidence"] == "high", report
    text = report["cause"]["text"]
    assert "state D" in text and f"{folder}/data" in text and "/dev/null" not in text.split("copyfile")[0], text
    assert "copyfile" in text and "NFS" in advice(report), report


@pytest.mark.parametrize("back", [True, False])
def test_storage_that_no_signal_gets_a_process_out_of_is_told(vigil, dead_files, back):
    """As with a hard mount: the job cannot end before its server is back, and who waits for it is told why, or goes."""
    folder = dead_files("hard")
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--",
                    *workload("hangs", "tensorboard", "--at", 20, "--steps", 400, "--file", folder))
    (told,) = wait_for(lambda: events(vigil, "unkillable"), 90, "it to be told")
    assert "stays in state D" in told["text"], told
    assert p.poll() is None
    assert looks(vigil.why()) == ("tensorboard_remote", [1]), "the report is complete before that"
    if back:
        dead_files.end()
    else:
        p.terminate()
    result = vigil.finish(p, 30)
    assert bool(events(vigil, "left_behind")) != back, result
    dead_files.end()
    assert result.status == 124 and "cannot be ended: it is in uninterruptible sleep (state D" in result.text, result


def test_nfs_s_words_in_the_kernel_s_log(vigil):
    log = b"[ 1.0] nfs: server nas7 not responding, still trying\n[ 9.0] INFO: task python3:812 blocked for more than 120 seconds.\n"
    result = vigil("rules", "test", "-", "--source", "kmsg", input=log)
    assert b"verdict: nfs_not_responding (root" in result.out and b"nas7" in result.out, result
    healed = log + b"[ 99.0] nfs: server nas7 OK\n"
    assert b"verdict: nfs_not_responding" not in vigil("rules", "test", "-", "--source", "kmsg", input=healed).out


# Before the training ----------------------------------------------------------------------------------------------

def test_a_rank_that_was_not_given_its_number(judged):
    """It ends at once, and its launcher does not notice."""
    report = judged("none", "--set", "2:RANK=", spawned=True)
    # on a busy machine it lives long enough to be seen, and is then one that has failed
    assert looks(report) in (("rank_not_started", [2]), ("dead_rank", [2])), report
    assert report["cause"]["confidence"] == "high", report
    assert "KeyError: 'RANK'" in shown(report), report
    assert ("RANK" if looks(report)[0] == "rank_not_started" else "that rank's log") in advice(report), report


def test_nccl_that_was_told_to_speak_and_says_nothing(judged):
    """For a minute: what is compared over the ranks agrees, and one of them never came."""
    report = judged("missing", after="62s", timeout=140, env={"NCCL_DEBUG": "INFO"})
    assert looks(report) == ("orphaned_wait", [1]), report
    assert "nothing_from_nccl: NCCL was told to write what it does and has not written a line" in shown(report), report


# The network ------------------------------------------------------------------------------------------------------

IB_LINE = ("n0:13:14 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4711> with error 12, opcode 1, len 32478, "
           "vendor err 129 hca mlx5_0")


@pytest.mark.parametrize("timeout, seconds", [("22", "4.096 us x 2^22 x 7 = 120 s"), ("14", "4.096 us x 2^14 x 7 = 0.47 s")])
def test_completion_error_12_with_its_time_and_the_three_variables(vigil, tmp_path, timeout, seconds):
    """An adapter that is a folder, whose count of messages without an answer goes up while the job stands."""
    port = tmp_path / "sys/class/infiniband/mlx5_0/ports/1"
    (port / "hw_counters").mkdir(parents=True)
    (port / "counters").mkdir()
    (port / "state").write_text("4: ACTIVE\n")
    (port / "phys_state").write_text("5: LinkUp\n")
    (port / "hw_counters/local_ack_timeout_err").write_text("0\n")
    p = vigil.start("run", "--hang-after", "4s", "--on-hang", "kill", "--nproc", RANKS, "--",
                    *workload("hangs", "size", "--culprit", 2, "--at", 60, "--steps", 400, "--say", f"0:{IB_LINE}"),
                    env={"VIGIL_SYS_PATH": tmp_path / "sys", "NCCL_IB_TIMEOUT": timeout})
    wait_for(lambda: b"step 40/" in b"".join(f.read_bytes() for f in vigil.state.glob("jobs/*/attempt-0/rank-0.out")), 30,
             "the job to run")
    (port / "hw_counters/local_ack_timeout_err").write_text("31\n")
    result = vigil.finish(p, 90)
    assert result.status == 124, result
    report = vigil.why()
    assert looks(report) == ("ib_retry_exceeded", []), report
    assert seconds in report["cause"]["text"] and "10.0.0.2<4711>" in report["cause"]["text"], report
    for name in ("NCCL_IB_GID_INDEX=3", "NCCL_IB_TC"):
        assert name in advice(report), report
    # Who waits that long already is not told to.
    assert ("NCCL_IB_TIMEOUT=22" in advice(report)) == (timeout != "22"), report


# In the middle ----------------------------------------------------------------------------------------------------

def test_a_synchronised_batch_normalisation_that_does_not_end(judged):
    report = judged("norm", "--at", 20)
    assert looks(report) == ("sync_batch_norm", []), report
    assert "1.10" in advice(report) and "batch normalisation" in advice(report), report


@pytest.mark.parametrize("where", ["obs://bucket/log", None])
def test_tensorboard_that_writes_to_remote_storage(judged, dead_files, where):
    report = judged("tensorboard", "--at", 20, "--file", where or dead_files())
    assert looks(report) == ("tensorboard_remote", [1]) and report["cause"]["confidence"] == "high", report
    assert "local folder" in advice(report) and "writer_on_remote_store" in shown(report), report
    assert where or "fuse.deadfs" in report["cause"]["text"], report


def test_more_workers_than_processors(judged):
    report = judged("workers", "--at", 20)
    assert looks(report) == ("loader_stuck", [1]), report
    wanted = psutil.cpu_count() * 2 + 1
    assert f"{wanted} data loader workers share fewer processors" in shown(report), report
    assert "num_workers" in advice(report), report


def test_shared_memory_that_is_full(judged):
    probe = subprocess.run([*PREFIX_SHM, "true"], capture_output=True, text=True)
    if probe.returncode:
        pytest.skip(f"no /dev/shm of its own here: {probe.stderr.strip()}")
    report = judged("shm", "--at", 20, prefix=PREFIX_SHM)
    assert looks(report) == ("loader_stuck", [1]), report
    assert "/dev/shm is full" in shown(report), report


# The last epoch, and what else may not be missed ------------------------------------------------------------------

def test_ranks_in_different_epochs_by_their_own_lines(judged):
    """As in "Rank:2 Epoch:[48][20384/all]" beside "Rank:4 Epoch:[49][20384/all]"."""
    report = judged("epochs", "--at", 20, "--culprit", 2)
    assert looks(report) == ("uneven_last_epoch", [2]) and report["cause"]["confidence"] == "high", report
    assert "rank 2 is in epoch 48, rank 0 in epoch 49" in report["cause"]["text"], report
    assert "drop_last" in advice(report), report


@pytest.mark.parametrize("what, words, spawned, cause, culprit", [
    ("store", ("--culprit", 0, "--deaf"), True, "dead_rank", 0),
    ("mismatch", ("--culprit", 2), False, "mismatched_collective", 2),
    ("p2p", ("--culprit", 1), False, "mismatched_collective", 1),
])
def test_what_ranks_wait_for_that_does_not_come(judged, what, words, spawned, cause, culprit):
    report = judged(what, "--at", 20, *words, spawned=spawned)
    assert looks(report) == (cause, [culprit]), report
    assert what != "store" or "store_lost" in shown(report), report
