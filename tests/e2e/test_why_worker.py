"""`vigil why` of a task or actor of Ray by its name. A program in Perl that changes its title stands for the worker."""
import re

import pytest

from conftest import wait_for

GROWS = r'$0 = "ray::Learner.learn"; $x .= "y" x 5_000_000 while 1'
SLEEPS = r'$0 = "ray::sort pages"; $| = 1; print "up\n"; sleep 100'


def worker(script):
    """The words of a job in which a child is the worker."""
    return ["sh", "-c", 'perl -e "$1"; true', "sh", script]


def test_the_report_of_a_worker_is_found_by_the_name_of_its_task_or_actor(vigil):
    assert vigil("run", "--memory-limit", "100M", "--", *worker(GROWS), timeout=60).status == 0
    told = vigil.why("last")
    assert told["victim"]["command"] == "ray::Learner.learn", told["victim"]
    vigil("run", "--", "true")
    for name in ("Learner", "Learner.learn", "ray::Learner"):
        assert vigil.why(name)["id"] == told["id"]
    assert "ray::Learner.learn" in vigil("why", "Learner").out.decode()
    for name in ("learn", "Learn", "ray::", "IDLE"):
        result = vigil("why", name)
        assert result.status == 4 and len(result.text.splitlines()) == 1, result
    vigil("run", "--name", "Learner", "--", "true")
    assert vigil.why("Learner")["kind"] == "clean_exit", "a job of that name comes first"


def test_a_worker_that_lives_is_said_to_live(vigil):
    job = vigil.start("run", "--", *worker(SLEEPS))
    assert job.stdout.readline() == b"up\n"
    result = wait_for(lambda: (r := vigil("why", "sort pages")).status == 0 and r, 20, "the worker to be found")
    pid = int(re.search(r"(\d+), sort pages", result.out.decode())[1])
    assert pid != job.pid and b"alive" in result.out, result
    result = vigil("why", "sort pages", "--json")
    assert result.status == 4 and result.out == b"" and "no report" in result.text, result
    job.terminate()
    vigil.finish(job, 20)


@pytest.mark.parametrize("text", ["", "no-such-task"])
def test_nobody_of_that_name(vigil, text):
    vigil("run", "--", "true")
    result = vigil("why", text)
    assert result.status == 4 and len(result.text.splitlines()) == 1, result


def test_the_doctor_looks_at_all_workers_of_the_name(vigil):
    up = [vigil.start("run", "--", *worker(SLEEPS)) for _ in range(2)]
    assert [job.stdout.readline() for job in up] == [b"up\n"] * 2
    told = vigil("doctor", "sort pages", "--for", "1", "--json").json()
    assert told["subject"] == "2 Ray workers called sort pages" and len(told["watched"]["processes"]) == 2, told
