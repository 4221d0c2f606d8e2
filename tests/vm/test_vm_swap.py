"""What systemd-oomd does, and vigil on a machine with swap. The machine is booted as test_vm.py says."""
import pytest

from vmkit import Seen


@pytest.mark.parametrize("delegate", ["yes", "no"])
def test_a_kill_by_systemd_oomd_for_pressure_is_explained(with_swap, delegate):
    seen = Seen(with_swap.seen("oomd-pressure").path / delegate)
    assert "due to memory pressure" in seen.fact("journal"), f"systemd-oomd was to kill\n{seen}"
    report = seen.why()
    assert (report["kind"], report["killer"]) == ("systemd_oomd", "systemd-oomd"), seen
    assert "pressure" in report["cause"]["text"].lower(), f"its percentage is pressure, not use, and that is said\n{seen}"


def test_a_kill_by_systemd_oomd_for_swap_is_explained(with_swap):
    seen = with_swap.seen("oomd-swap")
    assert "swap used" in seen.fact("journal"), f"systemd-oomd was to kill\n{seen}"
    report = seen.why()
    assert (report["kind"], report["killer"]) == ("systemd_oomd", "systemd-oomd"), seen
    assert "swap" in report["cause"]["text"].lower(), seen


def test_on_a_machine_with_swap_vigil_acts_before_the_kernel(with_swap):
    seen = with_swap.seen("swap")
    assert seen.number("run.status") == 137, seen
    assert seen.number("kills.after") == seen.number("kills.before"), seen
    report = seen.why()
    assert (report["kind"], report["killer"]) == ("memory_kill", "vigil"), seen
    assert seen.number("swap.total") > 0
