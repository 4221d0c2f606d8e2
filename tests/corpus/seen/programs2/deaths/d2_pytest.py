import os, sys
sys.path.insert(0, os.path.abspath(__file__ + "/../../.."))
from kitdeath import *   # noqa: F401,F403

print("============================= test session starts ==============================\ncollected 3 items\n")
steps(3)
print("""tests/test_parity.py ..F                                                 [100%]

=================================== FAILURES ===================================
_______________________________ test_loss_parity _______________________________

    def test_loss_parity():
        ref, got = run()
>       assert abs(ref - got) < 0.01, "loss differs over tolerance"
E       AssertionError: loss differs over tolerance
E       assert 0.31 < 0.01
E        +  where 0.31 = abs((2.41 - 2.1))

tests/test_parity.py:14: AssertionError
=========================== short test summary info ============================
FAILED tests/test_parity.py::test_loss_parity - AssertionError: loss differs over tolerance
========================= 1 failed, 2 passed in 1.22s ==========================""", flush=True)
sys.exit(1)
