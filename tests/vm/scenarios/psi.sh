# Pressure triggers with windows under two seconds need a privilege that root has here.
exec 5<> /proc/pressure/memory
if printf 'some 25000 500000\0' >&5; then fact half-second accepted; else fact half-second refused; fi
exec 5>&-
"$VIGIL" doctor --json > "$OUT/doctor.json" 2> "$OUT/doctor.err"
fact doctor.status $?
