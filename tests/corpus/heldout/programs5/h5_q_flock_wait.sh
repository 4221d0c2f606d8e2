# Waits for the lock of a data set that a converter has, which works for 64 s; flock has a limit of 5 minutes.
note() { [ -z "$CORPUS_ROLES" ] || echo "$1 $2" >> "$CORPUS_ROLES"; }
note launcher $$
flock data.lock "$1" -c '
import time
end, x = time.time() + 64, 0
while time.time() < end:
    x += 1
print("converted", flush=True)' &
note converter $!
sleep 1
flock -w 300 data.lock echo "training"
wait
