# The node service as packaging/ installs it: jobs of another user, one of them in a network namespace of its own, are
# adopted; the one at its limit is ended in time, the one that hangs is told of, and so is the kernel's own kill.
unit=vigil-agent.service
state=/var/lib/vigil
job=/t/guest/unitjob.py
go=/run/unit.go
unset VIGIL_STATE_DIR
for d in bin lib share; do
	mount --bind /installed/usr/local/$d /usr/local/$d
done
echo "unittester:x:4711:4711::/tmp:/bin/sh" >> /etc/passwd
echo "unittester:x:4711:" >> /etc/group
mkdir -p /etc/vigil "/run/systemd/system/$unit.d"
printf 'agent:\n  command: [unitjob.py]\n  hang-after: 5s\n' > /etc/vigil/vigil.yaml
# Said is also what vigil otherwise keeps to itself, and a system call that the filter leaves out ends its process.
# What `vigil doctor` finds is found with the rights of the unit.
printf '[Service]\nEnvironment=VIGIL_DEBUG=1\nSystemCallErrorNumber=\nExecStartPre=-/bin/sh -c "exec %s > %s"\n' \
	"/usr/local/bin/vigil doctor --json" /run/vigil/doctor.json > "/run/systemd/system/$unit.d/test.conf"
echo "vigil:x:4710:" >> /etc/group # as sysusers.d/vigil.conf would, in a tenth of the time
systemctl daemon-reload

said() { journalctl -u $unit -o cat --no-pager; }
# Without the text by which jobs are found, or sed would be one.
job_of() { sed -n "s/.*watching .*job[.]py $1.* (job \(.*\))$/\1/p" "$OUT/adopted" | head -1; }
# Polls use no process: emulated, each takes a tenth of a second.
shopt -s nullglob
have_reports() { set -- "$1" $state/users/4711/jobs/*/incidents/*.json; [ $# -gt "$1" ]; }
have_jobs() { set -- "$1" $state/users/4711/jobs/python3-*; [ $# -gt "$1" ]; }
# as_user NAME PROPERTY... -- COMMAND...: a service of the ordinary user
as_user()
{
	local name=$1
	shift
	systemd-run --quiet --unit="unit-$name" --uid=4711 --gid=4711 -p MemorySwapMax=0 "$@"
}

as_user steps python3 $job steps
as_user grow -p MemoryMax=96M -p OOMPolicy=continue python3 $job grow $go
as_user hold python3 $job hold 16
as_user wait -p PrivateNetwork=yes python3 $job both_wait
started=$SECONDS
systemctl start $unit
fact start.status $?
wait_for 90 have_jobs 4
fact adopted.seconds $((SECONDS - started))

# what its processes are, while they run
main=$(systemctl show -P MainPID $unit)
for p in $(cat "/sys/fs/cgroup$(systemctl show -P ControlGroup $unit)/cgroup.procs"); do
	printf '%s %s %s %s %s\n' "$p" "$(cat /proc/$p/comm)" "$(awk '{ print $(NF - 11), $(NF - 33) }' /proc/$p/stat)" \
		"$(awk '/^VmLck|^CapEff|^Seccomp:/ { printf "%s%s ", $1, $2 }' /proc/$p/status)"
done > "$OUT/processes"
fact main "$main"
fact environ "$(tr '\0' '\n' < /proc/$main/environ)"

fact kernel.before "$(dmesg | grep -c 'Memory cgroup out of memory')"
touch $go
wait_for 60 have_reports 1
echo f > /proc/sysrq-trigger
wait_for 90 have_reports 3
said > "$OUT/adopted"
fact kernel.after "$(dmesg | grep -c 'Memory cgroup out of memory')"
for kind in grow hold both_wait; do
	name=$(job_of $kind)
	cp "$state/users/4711/jobs/$name/incidents/$name.1.json" "$OUT/$kind.json"
done
# Their owner reads them by the access list, a third does not.
for reader in 4711 4712; do
	setpriv --reuid $reader --regid $reader --clear-groups cat "$state/users/4711/jobs/$name/incidents/$name.1.json" > /dev/null 2>&1
	fact reads.$reader $?
done
fact seconds.all $((SECONDS - started))
cp /run/vigil/doctor.json "$OUT/doctor.json"
fact steps.alive "$(systemctl is-active unit-steps)"
(cd $state && find . -printf '%m %u %g %p\n') > "$OUT/modes"
systemctl show $unit > "$OUT/show"
fact exposure "$(systemd-analyze security --no-pager $unit 2> /dev/null | tail -1)"
cat "/sys/fs/cgroup$(systemctl show -P ControlGroup $unit)/memory.peak" > "$OUT/memory.peak" 2> /dev/null || :
systemctl stop $unit unit-steps unit-grow unit-hold unit-wait
fact result "$(systemctl show -P Result $unit)"
journalctl -b -o short-precise --no-pager -u $unit > "$OUT/journal"
journalctl -b -o cat --no-pager _PID=1 | grep -i vigil > "$OUT/journal.systemd" || :
rm -rf /etc/vigil "/run/systemd/system/$unit.d"
umount /usr/local/bin /usr/local/lib /usr/local/share
