"""Ctrl-C and its kind at some moment of a look: the program that was looked into lives on. bench/attack_attach.py has more."""
import os
import pathlib

import pytest

from attackkit import MANNERS, SIGNALS, Attack, Tally
from conftest import ROOT

BINARY = pathlib.Path(os.environ.get("VIGIL", ROOT / "build/src/cli/vigil")).resolve()
LIBRARY = BINARY.parents[2] / "preload/libvigil_heap.so"
TRIALS = {"attach": 16, "detach": 8, "stack": 8, "flame": 8}
pytestmark = pytest.mark.skipif(not LIBRARY.exists() or os.uname().machine != "x86_64",
                                reason="nothing can be loaded into a program by this build")


@pytest.mark.parametrize("manner", MANNERS)
def test_a_signal_to_vigil_ends_no_program(manner, tmp_path):
    attack, tally = Attack(BINARY, manner, tmp_path, tmp_path / "state", seed=os.getpid()), Tally()
    try:
        for i in range(TRIALS[manner]):
            attack.trial(SIGNALS[i % len(SIGNALS)], tally)
    finally:
        attack.close()
    assert tally.died == 0 and tally.stood == 0 and tally.reached > 0, tally
