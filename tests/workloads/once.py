"""Runs modules that are made, run and freed one after the other. module_7.py calls function_7(), which stays."""
import time


def burn():
    end = time.perf_counter() + 0.004
    while time.perf_counter() < end:
        pass


for number in range(10):
    exec(f"def function_{number}():\n    burn()\n")
print("begun", flush=True)
number, end = 0, time.monotonic() + 60
while time.monotonic() < end:
    exec(compile(f"function_{number}()\n", f"module_{number}.py", "exec"))
    number = (number + 1) % 10
