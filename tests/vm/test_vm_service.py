"""vigil's processes killed at any moment, and the service as it is installed. The machine is booted as test_vm.py says."""
import json
import re

# Refusals by the unit's own limits, as its journal would have them.
REFUSED = re.compile(r"denied|EPERM|Operation not permitted|bad system call|SIGSYS|status=31|core-dump|CAP_[A-Z_]+", re.I)


def test_whichever_of_vigils_processes_are_killed_nothing_is_left(service):
    seen = service.seen("outlive")
    told = seen.json("trials.json")
    assert told["bad"] == [], seen
    assert all(kind["trials"] == 3 for kind in told["kinds"].values()) and len(told["kinds"]) == 4, seen


def test_the_service_adopts_and_guards_as_it_is_installed(service):
    seen = service.seen("unit")
    assert seen.number("start.status") == 0, seen
    for kind in ("steps", "grow", "hold", "both_wait"):
        assert f"unitjob.py {kind}" in seen.fact("adopted"), seen
    shown = dict(line.split("=", 1) for line in seen.fact("show").splitlines() if "=" in line)
    assert (shown["NRestarts"], shown["Slice"], seen.fact("result")) == ("0", "vigil.slice", "success"), seen
    assert seen.fact("steps.alive") == "active", f"who makes steps is left alone\n{seen}"


def test_nothing_is_refused_to_the_service(service):
    """The scenario has system calls that the filter leaves out end the process, and what vigil keeps to itself is said."""
    seen = service.seen("unit")
    said = [line for name in ("journal", "journal.systemd") for line in seen.fact(name).splitlines() if REFUSED.search(line)]
    assert said == [], seen


def test_the_service_may_do_what_the_doctor_asks_for(service):
    seen = service.seen("unit")
    found = {f["id"] for f in seen.json("doctor.json")["findings"]}
    assert not found & {"no-openat2", "no-pidfd", "no-bpf", "no-mrelease"}, seen


def test_the_service_ends_a_job_at_its_limit_before_the_kernel_does(service):
    seen = service.seen("unit")
    report = seen.json("grow.json")
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil"), seen
    assert seen.number("kernel.after") == seen.number("kernel.before"), seen


def test_the_service_reads_the_kernels_own_kill(service):
    seen = service.seen("unit")
    report = seen.json("hold.json")
    assert (report["kind"], report["killer"]) == ("kernel_oom", "kernel"), seen
    assert "Killed process" in json.dumps(report), f"in the kernel's own words\n{seen}"


def test_the_service_sees_who_waits_for_whom_in_another_network_namespace(service):
    seen = service.seen("unit")
    report = seen.json("both_wait.json")
    text = json.dumps(report)
    assert report["kind"] == "hang" and "wait_circle" in text, seen
    assert "answer_wait" in text and "unitjob.py" in text, f"with its stacks\n{seen}"


def test_the_service_has_the_rights_that_it_needs_and_no_others(service):
    seen = service.seen("unit")
    processes = {words[1]: words for words in (line.split() for line in seen.fact("processes").splitlines())}
    fifo = "1"
    assert processes["vigil-guard"][2] == fifo, f"real time for the guard\n{seen}"
    locked = int(next(w for w in processes["vigil-guard"] if w.startswith("VmLck:")).removeprefix("VmLck:"))
    assert locked > 0, f"the guard's memory is locked without CAP_IPC_LOCK\n{seen}"
    assert all("Seccomp:2" in words for words in processes.values()), seen
    exposure = float(re.search(r"exposure level for vigil-agent.service: ([0-9.]+)", seen.fact("exposure")).group(1))
    assert exposure <= 3.5, seen
    for line in seen.fact("modes").splitlines():
        mode, owner, _, path = line.split(None, 3)
        # others may pass these, and read nothing in them
        passed = path in (".", "./users", "./heap")
        assert owner == "root" and int(mode, 8) & (0o006 if passed else 0o007) == 0, f"{path} may be read by all\n{seen}"
    assert seen.number("reads.4711") == 0 and seen.number("reads.4712") != 0, seen
