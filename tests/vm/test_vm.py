"""What only a real machine can show: its own killer, control groups v2, systemd-oomd, swap, negative oom_score_adj.

Three throw-away machines are booted: one without and one with swap (test_vm_swap.py), and one for vigil as a service
(test_vm_service.py). Each runs its scenarios (scenarios/*.sh) one after another and leaves what it saw, which the tests
judge. Booting takes 10 to 30 s, so that is done once a session.
Needs root (the image's files have owners), qemu and about 1 GiB; otherwise every test is skipped with the reason.
"""
import json
import re

import pytest

from vmkit import Seen


def races(seen):
    found = [seen.json(f"race.{n + 1}.json") for n in range(seen.number("races"))]
    assert found
    return found


def test_a_kill_by_the_kernel_for_the_whole_machine_is_named(plain):
    seen = plain.seen("global-oom")
    assert seen.number("run.status") == 137, seen
    assert seen.number("kills.after") > seen.number("kills.before"), f"the kernel was to kill\n{seen}"
    report = seen.why()
    assert (report["kind"], report["killer"]) == ("kernel_oom", "kernel"), seen
    assert report["victim"]["signal"] == 9
    assert f"Killed process {report['victim']['pid']} (hog)" in seen.text_of(report), "the kernel's own words are the evidence"


def test_a_kill_at_the_limit_of_a_scope_is_told_from_a_full_machine(plain):
    seen = plain.seen("cgroup-limit")
    assert seen.number("run.status") == 137, seen
    report = seen.why()
    assert (report["kind"], report["killer"]) == ("cgroup_oom", "cgroup"), seen
    assert "limited.scope" in seen.text_of(report), f"the group whose limit was hit is named\n{seen}"
    # Until the memory is back, vigil is all that is left in the group: it must not be the second victim.
    assert not re.search(r"Killed process \d+ \(vigil", seen.fact("dmesg")), seen
    assert seen.number("child.adj") == 0, seen


def test_vigil_wins_against_the_real_global_killer(plain):
    seen = plain.seen("race-global")
    for race in races(seen):
        assert race["won"] and race["died"], seen
    assert seen.number("kills.after") == seen.number("kills.before"), seen
    report = seen.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil"), seen
    assert report["memory"]["scope"] == "node", seen


def test_vigil_wins_inside_a_v2_group_with_a_limit(plain):
    seen = plain.seen("race-cgroup")
    for race in races(seen):
        assert race["won"] and race["died"], seen
    assert "oom_kill 0" in seen.fact("events").splitlines(), seen
    report = seen.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil"), seen
    assert report["memory"]["scope"] == "container", seen
    assert report["memory"]["total_bytes"] == 256 << 20, seen


def test_the_jobs_group_gets_a_memory_high_below_the_limit(plain):
    seen = plain.seen("memory-high")
    assert seen.fact("group").startswith("/system.slice/high.scope/"), f"the job has a group of its own in the scope\n{seen}"
    high = seen.fact("memory.high")
    assert high.isdigit(), f"memory.high is a number\n{seen}"
    assert (64 << 20) < int(high) < (300 << 20), seen


HELD = [("held", "/tight.slice/vigil-"),
        ("user", "/user.slice/user-1000.slice/user@1000.service/app.slice/vigil-"),
        ("session", "/user.slice/user-1000.slice/user@1000.service/app.slice/vigil-")]


def scope_part(plain, part):
    return Seen(plain.seen("scope").path / part)


@pytest.mark.parametrize("part, begin", HELD)
def test_systemd_makes_a_scope_for_the_job_where_vigils_own_group_is_systemds(plain, part, begin):
    seen = scope_part(plain, part)
    group = seen.fact("group")
    assert group.startswith(begin) and group.endswith(".scope/job"), f"beside vigil, in the same slice\n{seen}"
    unit = dict(line.split("=", 1) for line in seen.fact("unit").splitlines() if "=" in line)
    assert unit["Delegate"] == "yes" and unit["ControlGroup"] == group.removesuffix("/job"), seen
    assert unit.get("BindsTo", "").startswith("plain-") or part == "session", f"ends with vigil's own unit\n{seen}"
    assert seen.fact("memory.high").isdigit(), f"the brake is set in the job's group\n{seen}"
    assert seen.fact("holder") == "vigil-holder", seen
    assert seen.number("run.status") == 137, seen


@pytest.mark.parametrize("part", ["held", "grown", "crashed", "user", "session"])
def test_no_scope_is_left_when_the_job_or_vigil_has_gone(plain, part):
    seen = scope_part(plain, part)
    assert seen.fact("leftover") == "", seen
    if part == "crashed":
        assert seen.fact("all-gone") == "yes", f"the holder and the job go with vigil\n{seen}"


def test_a_job_in_a_scope_is_ended_by_vigil_and_not_by_the_limit_of_its_slice(plain):
    seen = scope_part(plain, "grown")
    assert seen.number("run.status") == 137, seen
    assert {"oom 0", "oom_kill 0"} <= set(seen.fact("events").splitlines()), seen
    report = seen.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil"), seen
    assert report["memory"]["total_bytes"] == 256 << 20, seen
    assert "tight.slice" in seen.text_of(report), seen


def test_a_job_is_not_taken_out_of_a_group_that_limits_it(plain):
    seen = scope_part(plain, "limited")
    assert seen.fact("group").startswith("/tight.slice/limited-scope.scope/"), seen


def test_a_protected_job_is_passed_over_by_the_kernel(plain):
    seen = plain.seen("protect")
    assert seen.number("adj") == -900, seen
    assert seen.number("kills.after") > seen.number("kills.before"), seen
    assert seen.number("other.status") == 137, seen
    assert seen.fact("alive") == "yes", seen


def test_protect_reads_back_what_it_has_set(plain):
    seen = plain.seen("protect")
    assert "-900" in seen.fact("protect.json"), seen


def test_the_sender_of_a_kill_9_is_named_where_bpf_is_permitted(plain):
    seen = plain.seen("killed-by")
    assert seen.number("run.status") == 137, seen
    report = seen.why()
    assert (report["kind"], report["killer"]) == ("killed_by", "signal"), seen
    text = seen.text_of(report)
    assert "python3" in text and seen.fact("sender") in text, seen


def test_pressure_triggers_with_short_windows_are_accepted_and_reported(plain):
    seen = plain.seen("psi")
    assert seen.fact("half-second") == "accepted", seen
    findings = seen.json("doctor.json")
    assert findings["schema"] == "vigil.findings/1"
    pressure = [f for f in findings["findings"] if "psi" in f["id"] or "pressure" in f["text"].lower()]
    assert not any(f["severity"] in ("warning", "error") for f in pressure), f"nothing is wrong with pressure here\n{seen}"
