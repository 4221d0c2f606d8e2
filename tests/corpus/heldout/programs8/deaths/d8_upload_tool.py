from kitd8 import *
import subprocess
fit(6)
subprocess.run(["sh", "-c", "echo 'upload failed: AccessDenied: bucket ckpt-eu is read-only for role trainer' >&2; exit 255"], check=True)
