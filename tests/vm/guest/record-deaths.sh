#!/bin/bash
# Inside the throw-away machine: provoke every kind of memory death (and some that look like one) and keep what each
# leaves behind, raw, under $VM_OUT: SLUG.txt (people: a first line that says what it is, then kernel records as
# /dev/kmsg gives them, the journal, counters), SLUG.kmsg (records alone), SLUG.journal.jsonl (journal, one JSON object a line).
# Arguments: slugs to run (default: all of this machine's part, see $PART: swap, noswap, guards).
. "$(dirname "$0")/lib.sh"
out=${VM_OUT:?}
echo -1000 > /proc/self/oom_score_adj # the recorder must live; each death starts at 0 again
only=" $* "

read_kmsg='
import os, sys
fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
os.lseek(fd, 0, os.SEEK_DATA)
while True:
    try: sys.stdout.buffer.write(os.read(fd, 8192))
    except BlockingIOError: break
    except BrokenPipeError: continue
'

# death SLUG "what it is" FUNCTION
death()
{
	[ "$only" = "  " ] || [[ $only == *" $1 "* ]] || return 0
	local slug=$1 what=$2 cursor state
	dmesg -C
	echo "recording $slug" > /dev/kmsg
	cursor=$(journalctl -n 1 -o export --no-pager | sed -n 's/^__CURSOR=//p')
	vm_before=$(oom_kill_counter)
	state=$(echo 0 > /proc/self/oom_score_adj; $3 2>&1) # bash says here what it saw killed
	journalctl --sync
	python3 -c "$read_kmsg" > "$out/$slug.kmsg"
	journalctl --after-cursor="$cursor" -o json --no-pager > "$out/$slug.journal.jsonl"
	{
		echo "# $what. Kernel $(uname -r), systemd $(systemctl --version | sed -n '1s/.*(\(.*\))/\1/p')."
		echo "== outcome"
		echo "$state"
		echo "vmstat oom_kill $vm_before -> $(oom_kill_counter)"
		echo "== kmsg"
		cat "$out/$slug.kmsg"
		echo "== journal"
		journalctl --after-cursor="$cursor" -o short-iso-precise --no-pager
	} > "$out/$slug.txt"
	echo "$slug: $(echo "$state" | tr '\n' ' ')"
}

status() { echo "status $?"; }
unit_result() { systemctl show "$1" -p Result,ActiveState,ExecMainPID,ExecMainCode,ExecMainStatus; systemctl reset-failed "$1" 2>/dev/null; }
run_unit() { systemd-run --quiet --unit="$@"; }

# --- limits of control groups ---------------------------------------------------
memcg_scope()
{
	systemd-run --quiet --unit=job-scope --scope -p MemoryMax=64M -p MemorySwapMax=0 hog --max 256M --hold 0
	status
}
memcg_service()
{
	run_unit job-service --wait -p MemoryMax=64M -p MemorySwapMax=0 -p OOMPolicy=stop "$BIN/hog" --max 256M --hold 0
	status
	unit_result job-service
}
memcg_service_continue()
{
	run_unit job-continue --wait -p MemoryMax=64M -p MemorySwapMax=0 -p OOMPolicy=continue \
		bash -c "$BIN/hog --max 256M --hold 0; echo hog ended with \$?; exit 5"
	status
	unit_result job-continue
}
memcg_group_kill()
{
	run_unit job-group --wait -p MemoryMax=96M -p MemorySwapMax=0 -p OOMPolicy=kill \
		bash -c "for i in 1 2 3; do $BIN/hog --max 8M & done; $BIN/hog --max 256M --hold 0; wait"
	status
	unit_result job-group
}
memcg_ancestor()
{
	systemctl set-property --runtime train.slice MemoryMax=96M MemorySwapMax=0
	systemd-run --quiet --unit=loader --slice=train.slice --scope hog --max 256M --hold 0
	status
	systemctl stop train.slice
}
memcg_swap()
{
	systemd-run --quiet --unit=job-swap --scope -p MemoryMax=64M -p MemorySwapMax=32M hog --max 256M --hold 0
	status
}
memcg_shmem()
{
	systemd-run --quiet --unit=job-shm --scope -p MemoryMax=64M -p MemorySwapMax=0 hog --way tmpfs --max 256M --hold 0
	status
}
memcg_threads()
{
	systemd-run --quiet --unit=job-threads --scope -p MemoryMax=64M -p MemorySwapMax=0 hog --threads 4 --max 256M --hold 0
	status
}
memcg_odd_name()
{
	systemd-run --quiet --unit=job-odd --scope -p MemoryMax=64M -p MemorySwapMax=0 \
		hog --name 'a b) (c,uid=0' --max 256M --hold 0
	status
}
memcg_burst()
{
	systemd-run --quiet --unit=job-burst --scope -p MemoryMax=64M -p MemorySwapMax=0 -p OOMPolicy=continue \
		bash -c "for i in \$(seq 25); do $BIN/hog --max 128M --hold 0; done; true"
	status
}
memcg_unkillable()
{
	# the watchdog stands outside the group: inside, its own page faults would wait for memory too
	timeout -s KILL 3 systemd-run --quiet --unit=job-unkillable --scope -p MemoryMax=48M -p MemorySwapMax=0 \
		bash -c "echo -1000 > /proc/self/oom_score_adj; exec $BIN/hog --max 128M --hold 0"
	status
}
memcg_adj()
{
	systemd-run --quiet --unit=job-adj --scope -p MemoryMax=96M -p MemorySwapMax=0 bash -c \
		"(echo 900 > /proc/self/oom_score_adj; exec $BIN/hog --max 4M --hold 20s) & $BIN/hog --max 256M --hold 0; kill %1 2>/dev/null; wait; true"
	status
}

# --- the whole machine ------------------------------------------------------------
global() { hog --hold 0; status; }
global_many() { hog --way fork --eater 64M --max 1400M; status; }
global_allocating()
{
	echo 1 > /proc/sys/vm/oom_kill_allocating_task
	timeout -s KILL 40 hog --hold 0
	status
	echo 0 > /proc/sys/vm/oom_kill_allocating_task
}
global_protected()
{
	(echo -900 > /proc/self/oom_score_adj; exec hog --max 200M --hold 60s) &
	local p=$!
	wait_for 20 test "$(ps -o rss= -p $p)" -gt 100000
	hog --hold 0
	status
	kill -0 $p && echo "the process at -900 lives"
	kill -9 $p
}
global_shm() { hog --way shm --hold 0; status; }
global_sysrq()
{
	hog --max 100M --hold 60s &
	local p=$!
	wait_for 20 test -e /proc/$p/exe
	read -rt 2 <> <(:)
	echo f > /proc/sysrq-trigger
	wait $p
	status
}
no_overcommit()
{
	echo 2 > /proc/sys/vm/overcommit_memory
	hog --hold 0
	status
	echo 0 > /proc/sys/vm/overcommit_memory
}

# --- systemd-oomd -----------------------------------------------------------------
oomd_pressure()
{
	oomd_conf 'DefaultMemoryPressureDurationSec=2s\nSwapUsedLimit=90%'
	systemctl set-property --runtime press.slice ManagedOOMMemoryPressure=kill ManagedOOMMemoryPressureLimit=10% MemoryHigh=120M
	run_unit victim --slice=press.slice "$BIN/hog" --max 400M --hold 60s
	wait_for 60 is_inactive victim
	unit_result victim
	systemctl stop victim press.slice systemd-oomd
}
oomd_pressure_scope()
{
	oomd_conf 'DefaultMemoryPressureDurationSec=2s\nSwapUsedLimit=90%'
	systemctl set-property --runtime press.slice ManagedOOMMemoryPressure=kill ManagedOOMMemoryPressureLimit=10% MemoryHigh=120M
	systemd-run --quiet --unit=job-pressed --slice=press.slice --scope hog --max 400M --hold 60s
	status
	unit_result job-pressed.scope
	systemctl stop press.slice systemd-oomd
}
oomd_swap()
{
	oomd_conf 'SwapUsedLimit=50%'
	systemctl set-property --runtime swapt.slice ManagedOOMSwap=kill
	run_unit swapv --slice=swapt.slice "$BIN/hog" --max 1050M --hold 60s
	wait_for 60 is_inactive swapv
	unit_result swapv
	systemctl stop swapv swapt.slice systemd-oomd
}

# --- other guards and other hands ---------------------------------------------------
earlyoom_unit()
{
	run_unit earlyoom-test -p OOMScoreAdjust=-100 earlyoom -r 3600 "$@"
	wait_for 10 systemctl is-active -q earlyoom-test
	read -rt 2 <> <(:)
}
earlyoom_term() { earlyoom_unit; hog --rate 60M --hold 0; status; systemctl stop earlyoom-test; }
earlyoom_kill() { earlyoom_unit; hog --rate 60M --trap-term --hold 0; status; systemctl stop earlyoom-test; }
earlyoom_group() { earlyoom_unit -g; setsid -w hog --rate 60M --hold 0; status; systemctl stop earlyoom-test; }
nohang_unit()
{
	run_unit nohang-test nohang --monitor --config "${1:-/etc/nohang/nohang.conf}"
	wait_for 20 systemctl is-active -q nohang-test
	wait_for 20 grep -q 'Monitoring has started' <(journalctl -u nohang-test --no-pager; true)
	read -rt 4 <> <(:)
}
nohang_term() { nohang_unit; hog --rate 30M --hold 0; status; systemctl stop nohang-test; }
nohang_kill() { nohang_unit; hog --rate 30M --trap-term --hold 0; status; systemctl stop nohang-test; }
nohang_desktop() { nohang_unit /etc/nohang/nohang-desktop.conf; hog --rate 30M --hold 0; status; systemctl stop nohang-test; }
user_kill9()
{
	run_unit job-kill9 "$BIN/hog" --max 8M --hold 60s
	wait_for 10 systemctl is-active -q job-kill9
	kill -9 "$(systemctl show -P MainPID job-kill9)"
	wait_for 10 is_inactive job-kill9
	unit_result job-kill9
}
systemctl_kill()
{
	run_unit job-sysctl "$BIN/hog" --max 8M --hold 60s
	wait_for 10 systemctl is-active -q job-sysctl
	systemctl kill -s KILL job-sysctl
	wait_for 10 is_inactive job-sysctl
	unit_result job-sysctl
}
runtime_limit()
{
	run_unit job-runtime --wait -p RuntimeMaxSec=2 "$BIN/hog" --max 8M --hold 60s
	status
	unit_result job-runtime
}
stop_timeout()
{
	run_unit job-stubborn -p TimeoutStopSec=2 "$BIN/hog" --trap-term --max 8M --hold 60s
	wait_for 10 systemctl is-active -q job-stubborn
	systemctl stop job-stubborn
	unit_result job-stubborn
}
segfault()
{
	run_unit job-segv --wait python3 -c 'import ctypes; ctypes.string_at(0)'
	status
	unit_result job-segv
}
bus_error()
{
	mkdir -p /run/small
	mount -t tmpfs -o size=4M small /run/small
	run_unit job-bus --wait python3 -c "import mmap
f = open('/run/small/x', 'w+b'); f.truncate(16 << 20)
m = mmap.mmap(f.fileno(), 16 << 20)
for i in range(0, 16 << 20, 4096): m[i] = 1"
	status
	unit_result job-bus
	umount /run/small
}

case ${PART:-noswap} in
swap)
	death oomd-pressure-service "systemd-oomd ends a service for memory pressure of its slice (no kernel record at all)" oomd_pressure
	death oomd-pressure-scope "systemd-oomd ends a scope for memory pressure of its slice" oomd_pressure_scope
	death oomd-swap-service "systemd-oomd ends a service because memory and swap are both used up" oomd_swap
	death memcg-swap "the kernel ends a process at its group's limit with some swap allowed (cgroup v2, scope)" memcg_swap
	death global-swap "the kernel ends a process with machine memory and swap both full" global
	;;
noswap)
	death memcg-scope "the kernel ends a process at its group's limit (cgroup v2, systemd scope)" memcg_scope
	death memcg-service "the same in a service with OOMPolicy=stop" memcg_service
	death memcg-service-continue "the same in a service with OOMPolicy=continue: the child dies, the main process goes on" memcg_service_continue
	death memcg-oom-group "memory.oom.group (OOMPolicy=kill): the kernel ends every process of the group" memcg_group_kill
	death memcg-ancestor "the limit of an ancestor slice is hit: oom_memcg and task_memcg differ" memcg_ancestor
	death memcg-shmem "a file in /dev/shm fills the group: the victim's own pages are few" memcg_shmem
	death memcg-threads "the victim has threads" memcg_threads
	death memcg-odd-name "the victim's name holds blanks, a bracket, a comma and what looks like a field" memcg_odd_name
	death memcg-adj "a small process with oom_score_adj 900 goes before the big one" memcg_adj
	death memcg-unkillable "nothing in the group may be killed (oom_score_adj -1000)" memcg_unkillable
	death memcg-burst "25 kills in a burst: the kernel leaves out the long part of most of them" memcg_burst
	death global "the kernel ends a process because the machine's memory is full" global
	death global-protected "a process at oom_score_adj -900 is passed over" global_protected
	death global-shmem "shared anonymous memory fills the machine" global_shm
	death global-many-small "many small processes fill the machine" global_many
	death global-sysrq "the killer called by hand (sysrq f)" global_sysrq
	death no-overcommit "vm.overcommit_memory=2: mmap fails, nobody is killed" no_overcommit
	death global-allocating-task "vm.oom_kill_allocating_task=1: whoever asked is ended" global_allocating
	;;
guards)
	death earlyoom-term "earlyoom ends a process with SIGTERM" earlyoom_term
	death earlyoom-kill "earlyoom ends a process that ignores SIGTERM" earlyoom_kill
	death earlyoom-group "earlyoom -g: the whole process group" earlyoom_group
	death nohang-term "nohang ends a process with SIGTERM" nohang_term
	death nohang-kill "nohang ends a process that ignores SIGTERM" nohang_kill
	death nohang-desktop "nohang with the desktop configuration" nohang_desktop
	death user-kill9 "somebody's kill -9: no record but the unit's" user_kill9
	death systemctl-kill "systemctl kill -s KILL" systemctl_kill
	death runtime-limit "RuntimeMaxSec= reached" runtime_limit
	death stop-timeout "a service that ignores SIGTERM is ended when it is stopped" stop_timeout
	death segfault "a crash, with the kernel's line" segfault
	death bus-error "a mapped file in a full tmpfs: SIGBUS" bus_error
	;;
*)
	echo "record-deaths: PART is swap, noswap or guards" >&2
	exit 2
	;;
esac
