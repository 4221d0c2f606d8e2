# A splitter writes sources and targets into two FIFOs by turns; it hears from its source only every 16 s.
mkfifo source target
paste source target | tee pairs.txt | awk '{ n++; print "pair", n; fflush() }' &
"$1" -c '
import time
with open("source", "w", buffering=1) as f, open("target", "w", buffering=1) as g:
    for n in range(40):
        time.sleep(16 if 20 <= n < 25 else 0.2)
        f.write("source %d\n" % n)
        g.write("target %d\n" % n)
'
wait
