from kitd6 import *
epochs(5)
p = subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (2, 5)))
role("solver", p.pid)
p.wait()
epochs(2, 6)
sys.exit(f"solver ended with {p.returncode}, no solution")
