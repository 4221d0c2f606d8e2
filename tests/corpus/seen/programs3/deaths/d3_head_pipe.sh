set -o pipefail
cat > dump.py <<'X'
import time
for i in range(200000):
    print("token", i)
X
"$1" dump.py | head -3
