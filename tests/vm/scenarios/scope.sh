# systemd makes the job's group where vigil's own group is systemd's: for root in a scope that was not handed over, when
# vigil is killed, and for a user with a manager of their own. Each leaves its facts in a folder of its own.
state=$VIGIL_STATE_DIR out=$OUT
part() { export VIGIL_STATE_DIR=$state-$1 OUT=$out/$1; mkdir -m 777 "$OUT"; page=/run/scope-$1.page; make_page $page; }
scopes() { systemctl $1 list-units --all --plain --no-legend 'vigil-*' 2>&1; }
none_left() { [ -z "$(scopes $1)" ]; }
leftover() { wait_for 10 none_left $1 || :; fact leftover "$(scopes $1)"; }

# look: what the job's group is like while the hog holds still
look()
{
	wait_for 40 hog_ready $page || exit
	pid=$(hog_pid $page)
	group=$(sed -n 's/^0:://p' "/proc/$pid/cgroup")
	scope=$(dirname "$group")
	fact group "$group"
	for f in memory.high cgroup.freeze cgroup.kill; do
		[ -e "/sys/fs/cgroup$group/$f" ] && fact $f "$(cat "/sys/fs/cgroup$group/$f" 2>/dev/null)"
	done
	fact holder "$(cat /proc/$(cat "/sys/fs/cgroup$scope/keeper/cgroup.procs")/comm)"
	systemctl $1 show "$(basename "$scope")" > "$OUT/unit"
}

systemctl set-property --runtime tight.slice MemoryMax=256M MemorySwapMax=0
in_slice() { ordinary systemd-run --quiet --scope --slice=tight.slice --unit=plain-$RANDOM "$@"; }

part held
in_slice "$VIGIL" run --quiet -- "$BIN/hog" --prefill 32M --page $page --max 1M --hold 60s > "$OUT/run.out" 2> "$OUT/run.err" &
vigil=$!
look
kill -KILL "$pid"
wait $vigil
fact run.status $?
leftover

part grown
in_slice "$VIGIL" run --quiet -- "$BIN/hog" --rate 50M --prefill 64M --max 400M --hold 0 > "$OUT/run.out" 2> "$OUT/run.err"
fact run.status $?
fact events "$(cat /sys/fs/cgroup/tight.slice/memory.events)"
explain
leftover

part crashed
in_slice "$VIGIL" run --quiet -- "$BIN/hog" --prefill 32M --page $page --max 1M --hold 60s > "$OUT/run.out" 2> "$OUT/run.err" &
wait_for 40 hog_ready $page
pid=$(hog_pid $page)
holder=$(cat "/sys/fs/cgroup$(dirname "$(sed -n 's/^0:://p' "/proc/$pid/cgroup")")/keeper/cgroup.procs")
kill -KILL "$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status")"
wait_for 20 gone "$pid" && wait_for 5 gone "$holder" && fact all-gone yes || fact all-gone no
leftover

# A limit on vigil's own group holds for its job, so this job is not taken out of it.
part limited
ordinary systemd-run --quiet --scope --slice=tight.slice --unit=limited-scope -p MemoryMax=200M \
	"$VIGIL" run --quiet -- "$BIN/hog" --prefill 32M --page $page --max 1M --hold 60s > "$OUT/run.out" 2> "$OUT/run.err" &
vigil=$!
wait_for 40 hog_ready $page
pid=$(hog_pid $page)
fact group "$(sed -n 's/^0:://p' "/proc/$pid/cgroup")"
kill -KILL "$pid"
wait $vigil || :

# A user's manager, without a login manager and PAM: the machine has neither.
part user
user=1000
echo "tester:x:$user:$user::/tmp:/bin/bash" >> /etc/passwd
echo "tester:x:$user:" >> /etc/group
mkdir -p /run/user/$user /run/systemd/system /run/systemd/user
chown $user:$user /run/user/$user
chmod 700 /run/user/$user
cat > /run/systemd/system/user@.service <<'U'
[Service]
User=%i
Type=notify
Environment=XDG_RUNTIME_DIR=/run/user/%i
ExecStart=/lib/systemd/systemd --user
Slice=user-%i.slice
KillMode=mixed
Delegate=pids memory cpu
TasksMax=infinity
U
printf '[Socket]\nListenStream=%%t/bus\n' > /run/systemd/user/dbus.socket
printf '[Service]\nExecStart=/usr/bin/dbus-daemon --session --address=systemd: --nofork --nopidfile\n' > /run/systemd/user/dbus.service
systemctl daemon-reload
systemctl start user@$user
as_user() { setpriv --reuid $user --regid $user --clear-groups env HOME=/tmp XDG_RUNTIME_DIR=/run/user/$user "$@"; }
as_user systemctl --user start dbus.socket dbus.service # emulated, the bus is too slow for the first who asks
chown $user $page
user_run() { ordinary setpriv --reuid $user --regid $user --clear-groups env HOME=/tmp XDG_RUNTIME_DIR=/run/user/$user "$@"; }

systemctl() { if [ "$1" = --user ]; then as_user systemctl "$@"; else command systemctl "$@"; fi; }
user_run systemd-run --user --quiet --scope --unit=plain-user "$VIGIL" run --quiet -- \
	"$BIN/hog" --prefill 32M --page $page --max 1M --hold 60s > "$OUT/run.out" 2> "$OUT/run.err" &
vigil=$!
look --user
kill -KILL "$pid"
wait $vigil
fact run.status $?
leftover

# From a session, which is not below the user's manager: the manager has the job moved in.
part session
chown $user $page
ordinary systemd-run --quiet --scope --slice=user-$user.slice --unit=session-7 --uid=$user --gid=$user -E HOME=/tmp \
	-E XDG_RUNTIME_DIR=/run/user/$user -E VIGIL_STATE_DIR="$VIGIL_STATE_DIR" \
	"$VIGIL" run --quiet -- "$BIN/hog" --prefill 32M --page $page --max 1M --hold 60s > "$OUT/run.out" 2> "$OUT/run.err" &
vigil=$!
look --user
kill -KILL "$pid"
wait $vigil
fact run.status $?
leftover
