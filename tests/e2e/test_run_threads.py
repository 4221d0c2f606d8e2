"""`vigil run --threads`: the variables that a job gets, and those that it keeps."""
import os

import pytest

SHOW = ["sh", "-c", "env | grep _THREADS= | sort"]
ALL = {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
       "NUMBA_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"}


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in ALL:
        monkeypatch.delenv(name, raising=False)


def shown(result):
    return dict(line.split("=") for line in result.out.decode().split())


def test_a_number_is_given_to_every_library(vigil):
    assert shown(vigil("run", "--threads", "3", "--", *SHOW)) == dict.fromkeys(ALL, "3")


def test_auto_fits_ranks_times_threads_to_the_processors_of_the_cpuset(vigil):
    cpus = sorted(os.sched_getaffinity(0))
    alone = shown(vigil("run", "--threads", "auto", "--", *SHOW))
    assert 1 <= int(alone["OMP_NUM_THREADS"]) <= len(cpus)
    both = shown(vigil("run", "--threads", "auto", "--nproc", str(len(cpus)), "--", *SHOW))
    assert both["OMP_NUM_THREADS"] == "1"
    one = shown(vigil("run", "--threads", "auto", "--", *SHOW, prefix=["taskset", "-c", str(cpus[0])]))
    assert one == dict.fromkeys(ALL, "1")


def test_what_the_user_has_set_stays_and_is_said(vigil):
    result = vigil("run", "--threads", "5", "--", *SHOW, prefix=["env", "OMP_NUM_THREADS=2"])
    assert shown(result) == {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "5", "VECLIB_MAXIMUM_THREADS": "5"}
    assert "OMP_NUM_THREADS" in result.text


@pytest.mark.parametrize("threads", [[], ["--threads", "keep"]])
def test_nothing_is_set_unless_it_is_asked_for(vigil, threads):
    assert vigil("run", *threads, "--", *SHOW).out == b""


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "99999", ""])
def test_other_values_are_refused_before_anything_starts(vigil, wrong):
    result = vigil("run", "--threads", wrong, "--", "echo", "started")
    assert result.status == 125 and b"started" not in result.out
    assert "auto" in result.text and "keep" in result.text
