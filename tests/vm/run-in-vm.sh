#!/bin/bash
# Boot a throw-away machine, run a command in it, return its output and its exit status.
#
#   run-in-vm.sh [OPTIONS] -- COMMAND [ARG...]
#   run-in-vm.sh [OPTIONS] --script FILE
#   run-in-vm.sh [OPTIONS] --shell          (root shell on the serial console)
#
#   --mem MIB (1024)   --cpus N (2)     --swap MIB (0: none)
#   --accel auto|kvm|tcg (auto)         --timeout SECONDS (120)
#   --image DIR        --share HOSTDIR[:GUESTDIR][:ro]  (may be given more than once)
#   --env NAME=VALUE   --out DIR        (the guest's $VM_OUT, journal and console log are copied there)
#   --kernel-arg A     --qemu-arg A     --verbose (boot log to stderr)     --time
#
# Exit status: the command's own; 124 time is up; 125 the guest ended before the command did (the console's last lines
# are shown); 2 wrong usage. The root image is never written to, so any number of these may run at once.
set -u

here=$(cd "$(dirname "$0")" && pwd)
image=${VIGIL_VM_DIR:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vigil-vm}
mem=1024 cpus=2 swap=0 accel=auto timeout=120 out="" script="" shell=0 verbose=0 show_time=0
shares=() envs=() kernel_args=() qemu_args=() cmd=()

die()
{
	echo "run-in-vm: $*" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--mem) mem=$2; shift 2;;
	--cpus) cpus=$2; shift 2;;
	--swap) swap=$2; shift 2;;
	--accel) accel=$2; shift 2;;
	--timeout) timeout=$2; shift 2;;
	--image) image=$2; shift 2;;
	--share) shares+=("$2"); shift 2;;
	--env) envs+=("$2"); shift 2;;
	--out) out=$2; shift 2;;
	--script) script=$2; shift 2;;
	--kernel-arg) kernel_args+=("$2"); shift 2;;
	--qemu-arg) qemu_args+=("$2"); shift 2;;
	--shell) shell=1; shift;;
	--verbose) verbose=1; shift;;
	--time) show_time=1; shift;;
	-h|--help) sed -n '2,15p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
	--) shift; cmd=("$@"); break;;
	*) die "unknown option $1 (the command goes after --)";;
	esac
done
[ ${#cmd[@]} -gt 0 ] || [ -n "$script" ] || [ $shell = 1 ] || die "nothing to run"
command -v qemu-system-x86_64 >/dev/null || die "qemu-system-x86_64 is missing; run: $here/build-image.sh --deps"
[ -f "$image/image.info" ] || "$here/build-image.sh" --out "$image" >&2 || die "no image in $image"

kernel=$image/vmlinux
[ -f "$kernel" ] || kernel=$image/vmlinuz

# /dev/kvm may exist and open and still be unable to run a stock kernel (software-nested hosts): only booting one for a
# few seconds tells. The answer is kept until this machine's next boot.
probe_kvm()
{
	local answer
	answer=${TMPDIR:-/tmp}/vigil-vm-kvm.$(id -u).$(cat /proc/sys/kernel/random/boot_id)

	[ -r /dev/kvm ] && [ -w /dev/kvm ] || { echo tcg; return; }
	if [ ! -s "$answer" ]; then
		timeout -s KILL 8 qemu-system-x86_64 -machine q35 -accel kvm -cpu host -m 256 -nodefaults \
			-display none -no-reboot -kernel "$kernel" -initrd "$image/initrd.img" \
			-serial file:"$answer.$$" \
			-append 'console=ttyS0 quiet panic=-1 rdinit=/bin/busybox echo kvm-probe-ok' >/dev/null 2>&1
		if grep -qs kvm-probe-ok "$answer.$$"; then echo kvm; else echo tcg; fi > "$answer"
		rm -f "$answer.$$"
	fi
	cat "$answer"
}
case $accel in
auto) accel=$(probe_kvm);;
kvm|tcg) ;;
*) die "--accel takes auto, kvm or tcg";;
esac
[ "$accel" = kvm ] && cpu=host || cpu=max

d=$(mktemp -d "${TMPDIR:-/tmp}/vigil-vm.XXXXXX")
qemu= watchdog= tail=
tidy_up()
{
	[ -n "$qemu" ] && kill -KILL "$qemu" 2>/dev/null
	[ -n "$watchdog" ] && kill -TERM "$watchdog" 2>/dev/null
	[ -n "$tail" ] && kill -TERM "$tail" 2>/dev/null
	for f in so se; do # readers that qemu never wrote to would wait for ever
		[ -p "$d/$f" ] && (: 4<>"$d/$f")
	done
	wait 2>/dev/null
	rm -rf "$d"
}
trap tidy_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir -p "$d/job/out"
if [ -n "$script" ]; then
	cp "$script" "$d/job/cmd" || die "no script $script"
elif [ ${#cmd[@]} -gt 0 ]; then
	{ printf 'exec'; printf ' %q' "${cmd[@]}"; echo; } > "$d/job/cmd"
fi
for e in ${envs[@]+"${envs[@]}"}; do
	printf '%s=%q\n' "${e%%=*}" "${e#*=}" >> "$d/job/env"
done

security=none
[ "$(id -u)" = 0 ] || security=mapped-xattr
q=(qemu-system-x86_64 -machine q35 -accel "$accel" -cpu $cpu -smp "$cpus" -m "$mem" -nodefaults -no-user-config
	-display none -no-reboot -kernel "$kernel" -initrd "$image/initrd.img"
	-drive "file=$image/root.ext4,format=raw,if=virtio,snapshot=on,cache=unsafe"
	-device virtio-rng-pci -device virtio-serial-pci
	-fsdev "local,id=job,path=$d/job,security_model=$security" -device virtio-9p-pci,fsdev=job,mount_tag=job)
if [ "$swap" -gt 0 ]; then
	truncate -s "${swap}M" "$d/swap"
	q+=(-drive "file=$d/swap,format=raw,if=virtio,cache=unsafe")
fi
n=0
for s in ${shares[@]+"${shares[@]}"}; do
	IFS=: read -r host guest mode <<<"$s"
	if [ "$guest" = ro ]; then
		mode=ro
		guest=
	fi
	host=$(readlink -f "$host")
	[ -d "$host" ] || die "no directory ${s%%:*}"
	fs="local,id=s$n,path=$host,security_model=$security,multidevs=remap"
	[ "$mode" = ro ] && fs+=",readonly=on"
	q+=(-fsdev "$fs" -device "virtio-9p-pci,fsdev=s$n,mount_tag=s$n")
	echo "s$n ${guest:-$host} ${mode:-rw}" >> "$d/job/shares"
	n=$((n + 1))
done
append="console=ttyS0 panic=-1 quiet loglevel=6 net.ifnames=0 systemd.unified_cgroup_hierarchy=1"
append+=" systemd.show_status=0 random.trust_cpu=1"
[ $shell = 1 ] && append+=" vmshell"
for a in ${kernel_args[@]+"${kernel_args[@]}"}; do
	append+=" $a"
done
q+=(-append "$append")
for a in ${qemu_args[@]+"${qemu_args[@]}"}; do
	q+=($a) # split on purpose: "-device foo"
done

if [ $shell = 1 ]; then
	[ ${#cmd[@]} -gt 0 ] || [ -n "$script" ] || rm -f "$d/job/cmd"
	TMPDIR=$d "${q[@]}" -serial mon:stdio
	exit $?
fi
q+=(-serial "file:$d/console.log")
# FIFOs and not a stdio chardev: that one counts as closed when stdin is empty, and the guest's writes would block.
q+=(-chardev "file,id=so,path=$d/so" -device virtserialport,chardev=so,name=vm.out
	-chardev "file,id=se,path=$d/se" -device virtserialport,chardev=se,name=vm.err)
mkfifo "$d/so" "$d/se"

started=$(date +%s.%N)
cat "$d/so" &
cat_out=$!
cat "$d/se" >&2 &
cat_err=$!
TMPDIR=$d "${q[@]}" </dev/null &
qemu=$!
if [ $verbose = 1 ]; then
	: >> "$d/console.log"
	tail -f "$d/console.log" >&2 &
	tail=$!
fi
(
	sleep "$timeout" &
	s=$!
	trap 'kill $s 2>/dev/null; exit' TERM
	wait $s
	: > "$d/timeout"
	kill -KILL "$qemu" 2>/dev/null
) &
watchdog=$!
wait "$qemu" 2>/dev/null
qemu_rc=$?
qemu=
kill -TERM "$watchdog" 2>/dev/null
watchdog=
[ -n "$tail" ] && kill "$tail" 2>/dev/null
tail=
(: 4<>"$d/so"; : 4<>"$d/se")
wait "$cat_out" "$cat_err" 2>/dev/null
ended=$(date +%s.%N)

if [ -n "$out" ]; then
	mkdir -p "$out"
	cp -r "$d/job/out/." "$out/" 2>/dev/null
	for f in job/journal console.log job/boot_s; do
		[ -f "$d/$f" ] && cp "$d/$f" "$out/"
	done
fi
if [ $show_time = 1 ]; then
	total=$(echo "$ended $started" | awk '{printf "%.2f", $1 - $2}')
	echo "run-in-vm: accel=$accel total=${total}s kernel_to_job=$(cat "$d/job/boot_s" 2>/dev/null)s" >&2
fi
[ -f "$d/job/rc" ] && exit "$(cat "$d/job/rc")"
if [ -f "$d/timeout" ]; then
	echo "run-in-vm: timeout after ${timeout} s" >&2
	rc=124
else
	echo "run-in-vm: the guest ended without an exit status (qemu's was $qemu_rc)" >&2
	rc=125
fi
tail -n 15 "$d/console.log" 2>/dev/null | sed 's/^/  console: /' >&2
exit $rc
