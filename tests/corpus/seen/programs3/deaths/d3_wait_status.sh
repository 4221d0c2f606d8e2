cat > train.py <<'X'
import ctypes, time
for i in range(15):
    print("iter", i, "loss", 3 / (i + 1), flush=True); time.sleep(0.05)
ctypes.string_at(8)
X
"$1" train.py & p=$!
wait $p
exit $?
