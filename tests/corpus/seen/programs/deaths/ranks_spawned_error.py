"""A helper process of rank 2 fails, rank 2 leaves with its status."""
from job import *
role(f'rank{RANK}')
star = Star()
star.train(0, 30)
if RANK == 2:
    p = subprocess.run([sys.executable, "-c", "raise SystemError('NVML: driver/library version mismatch')"])
    sys.exit(p.returncode)
star.train(30, 300)
