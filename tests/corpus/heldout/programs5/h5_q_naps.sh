# A loop that collects metrics every 36 s.
for n in 1 2 3 4; do
    "$1" -c 'import os; print("disk free:", os.statvfs(".").f_bavail > 0, flush=True)'
    [ $n = 4 ] || sleep 36
done
