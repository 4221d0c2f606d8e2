#!/bin/bash
# Make the throw-away machine that tests/vm boots: a Debian kernel, a small initramfs and an ext4 root with systemd
# as init on cgroup v2, systemd-oomd, the rival guards, and the libraries that the vigil binary is linked to.
# Only Debian packages, from the sources this machine's apt uses; the kernel is unpacked, never installed.
#
#   build-image.sh [--out DIR] [--packages "a b c"] [--size MIB] [--suite NAME] [--kernel-package NAME]
#                  [--all-modules] [--no-peers] [--force] [--deps]
#
# Result in DIR (${VIGIL_VM_DIR}, else vigil-vm in the user's cache): vmlinux vmlinuz initrd.img root.ext4
# kernel.config image.info. image.info carries a stamp of everything that shapes the image: as long as the stamp is the
# same, a second call does nothing. --deps installs what the building machine needs. Needs root (mmdebstrap, mke2fs -d).
set -euo pipefail

out=${VIGIL_VM_DIR:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vigil-vm}
suite=bookworm size=4096 force=0 all_modules=0 kernel_package=linux-image-amd64 extra=""
base="systemd systemd-sysv dbus udev kmod procps util-linux systemd-oomd python3-minimal"
libraries="libsqlite3-0 libjansson4 libcyaml1 libsystemd0 libbpf1 libelf1 zlib1g libzstd1 libyaml-0-2 libcap2"
peers="earlyoom nohang python3-psutil"
host_packages="qemu-system-x86 qemu-utils mmdebstrap busybox-static cpio zstd xz-utils e2fsprogs kmod"

die()
{
	echo "build-image: $*" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--out) out=$2; shift 2;;
	--packages) extra=$2; shift 2;;
	--size) size=$2; shift 2;;
	--suite) suite=$2; shift 2;;
	--kernel-package) kernel_package=$2; shift 2;;
	--all-modules) all_modules=1; shift;;
	--no-peers) peers=""; shift;;
	--force) force=1; shift;;
	--deps) DEBIAN_FRONTEND=noninteractive exec apt-get install -y --no-install-recommends $host_packages;;
	-h|--help) sed -n '2,12p' "$0" | sed 's/^# \{0,1\}//'; exit 0;;
	*) die "unknown option $1 (see --help)";;
	esac
done

# The build wants the same root contents for the same packages: fixed times, fixed file-system identity.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1700000000}
uuid=7669676c-0000-4000-8000-000000000001

stamp=$({ cat "$0"; echo "$suite $size $kernel_package $all_modules $base $libraries $peers $extra"; } | sha256sum | cut -c1-16)
up_to_date() { [ $force = 0 ] && grep -qs "^stamp=$stamp$" "$out/image.info"; }
if up_to_date; then
	echo "build-image: up to date in $out"
	exit 0
fi

[ "$(id -u)" = 0 ] || die "must run as root: the root file system is unpacked with its owners"
for tool in mmdebstrap cpio zstd xz mke2fs depmod modprobe dpkg-deb apt-get busybox; do
	command -v $tool >/dev/null || die "$tool is missing; run: $0 --deps"
done

mkdir -p "$out"
exec 9>"$out/.lock"
flock 9
if up_to_date; then # somebody else built it while this call waited
	echo "build-image: up to date in $out"
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/vigil-image.XXXXXX")
trap 'rm -rf "$work"' EXIT

# --- kernel ------------------------------------------------------------------
real=$(apt-cache depends "$kernel_package" 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)$/\1/p' | head -1)
real=${real:-$kernel_package}
mkdir "$work/deb"
(cd "$work/deb" && apt-get download -q "$real" >/dev/null 2>&1) || die "cannot download $real; run apt-get update first"
dpkg-deb -x "$work"/deb/linux-image-*.deb "$work/kernel"
version=$(ls "$work/kernel/lib/modules")
depmod -b "$work/kernel" "$version" 2>/dev/null || true

# --- root file system ----------------------------------------------------------
packages=$(echo $base $libraries $peers $extra | tr ' ' ',')
sources=()
for f in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
	[ -s "$f" ] && sources+=("$f")
done
mmdebstrap --quiet --variant=minbase --include="$packages" --aptopt='APT::Install-Recommends "false"' \
	--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
	--dpkgopt='path-exclude=/usr/share/doc/*' "$suite" "$work/root.tar" ${sources[@]+"${sources[@]}"}
mkdir "$work/root"
tar -C "$work/root" -xf "$work/root.tar" --exclude='./dev/*'
rm "$work/root.tar"
r=$work/root

if [ $all_modules = 1 ]; then
	mkdir -p "$r/lib/modules"
	cp -a "$work/kernel/lib/modules/$version" "$r/lib/modules/"
else # what tests may ask for: virtio, 9p, fuse, overlay, zram, loop, tun, bridges
	(
		cd "$work/kernel"
		modules=lib/modules/$version/kernel
		for d in drivers/virtio drivers/block fs/9p fs/ext4 fs/jbd2 fs/fuse fs/overlayfs net/9p fs/netfs \
			fs/fscache drivers/char/hw_random drivers/net/virtio_net.ko drivers/net/net_failover.ko \
			drivers/net/tun.ko drivers/net/veth.ko drivers/net/dummy.ko net/core mm crypto lib \
			arch/x86/crypto fs/mbcache.ko drivers/char/virtio_console.ko kernel net/packet \
			net/bridge net/llc net/802 net/unix net/ipv4/inet_diag.ko net/ipv4/tcp_diag.ko; do
			[ -e "$modules/$d" ] || continue
			mkdir -p "$r/$(dirname "$modules/$d")"
			cp -a "$modules/$d" "$r/$(dirname "$modules/$d")/"
		done
		cp lib/modules/"$version"/modules.{order,builtin,builtin.modinfo} "$r/lib/modules/$version/"
	)
	depmod -b "$r" "$version" 2>/dev/null || true
fi

units=$r/etc/systemd/system
echo vigil-vm > "$r/etc/hostname"
echo "127.0.0.1 localhost vigil-vm" > "$r/etc/hosts"
: > "$r/etc/fstab"
: > "$r/etc/machine-id"
mkdir -p "$r/vm" "$units/multi-user.target.wants" "$r/etc/systemd/journald.conf.d"
cat > "$r/etc/systemd/journald.conf.d/vm.conf" <<'J'
[Journal]
Storage=volatile
RuntimeMaxUse=32M
RateLimitIntervalSec=0
J
sed -i 's/^root:[^:]*:/root::/' "$r/etc/shadow"

cat > "$r/usr/local/sbin/vmjob" <<'J'
#!/bin/bash
# Runs /vm/cmd (a bash script) with its output on the virtio ports and leaves its exit status in /vm/rc. This wrapper
# itself must outlive every memory test, so it cannot be chosen by the kernel's killer; the job starts at 0 again.
echo -1000 > /proc/self/oom_score_adj
for n in /sys/class/virtio-ports/*/name; do # port numbers differ between machines: find by name
	p=${n%/name}
	case $(<"$n") in
	vm.out) o=/dev/${p##*/};;
	vm.err) e=/dev/${p##*/};;
	esac
done
exec </dev/null >"${o:-/dev/console}" 2>"${e:-/dev/console}"
cut -d' ' -f1 /proc/uptime > /vm/boot_s
cd /root
export HOME=/root VM_OUT=/vm/out PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
(
	echo 0 > /proc/self/oom_score_adj
	if [ -f /vm/env ]; then
		set -a
		. /vm/env
		set +a
	fi
	exec bash /vm/cmd
)
rc=$?
journalctl -b -o short-precise --no-pager > /vm/journal 2>/dev/null
echo $rc > /vm/rc
sync -f /vm/rc
exec systemctl reboot -ff >/dev/null 2>&1
J
chmod 755 "$r/usr/local/sbin/vmjob"
cat > "$units/vmjob.service" <<'J'
[Unit]
Description=VM test job
ConditionPathExists=/vm/cmd
After=basic.target dbus.service systemd-journald.service
[Service]
Type=simple
ExecStart=/usr/local/sbin/vmjob
OOMPolicy=continue
Delegate=yes
KillMode=process
TasksMax=infinity
LimitNOFILE=1048576
J
ln -s ../vmjob.service "$units/multi-user.target.wants/vmjob.service"
# Guards are started by the test, never by the image.
for u in earlyoom.service nohang.service nohang-desktop.service systemd-oomd.service apt-daily.timer \
	apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer \
	getty@tty1.service systemd-networkd.service systemd-timesyncd.service systemd-resolved.service; do
	find "$units" -name "$u" -type l -delete
done
# Seconds matter under emulation: no device cold-plug and no login manager (devtmpfs is enough).
for u in systemd-timesyncd.service systemd-pstore.service e2scrub_reap.service systemd-update-utmp.service \
	systemd-update-utmp-runlevel.service ldconfig.service systemd-hwdb-update.service \
	systemd-udevd.service systemd-udev-trigger.service systemd-udevd-control.socket systemd-udevd-kernel.socket \
	systemd-logind.service systemd-random-seed.service systemd-journal-flush.service systemd-sysusers.service \
	systemd-machine-id-commit.service systemd-firstboot.service kmod-static-nodes.service \
	systemd-modules-load.service systemd-tmpfiles-setup-dev.service modprobe@configfs.service \
	modprobe@drm.service modprobe@efi_pstore.service modprobe@fuse.service modprobe@dm_mod.service \
	modprobe@loop.service proc-sys-fs-binfmt_misc.automount dev-hugepages.mount dev-mqueue.mount \
	sys-kernel-config.mount sys-fs-fuse-connections.mount systemd-user-sessions.service \
	systemd-remount-fs.service systemd-binfmt.service systemd-tmpfiles-clean.timer; do
	ln -sf /dev/null "$units/$u"
done
# A serial shell only when asked for (run-in-vm.sh --shell).
mkdir -p "$units/serial-getty@ttyS0.service.d"
cat > "$units/serial-getty@ttyS0.service.d/vm.conf" <<'J'
[Unit]
ConditionKernelCommandLine=vmshell
[Service]
ExecStart=
ExecStart=-/sbin/agetty -a root -L 115200 %I linux
J

used=$(du -sm --apparent-size "$r" | cut -f1)
[ $((used + 512)) -lt "$size" ] || size=$((used + 1024))
mke2fs -q -t ext4 -O ^has_journal -m 0 -U $uuid -E lazy_itable_init=0,nodiscard,hash_seed=$uuid -d "$r" \
	-F "$out/root.ext4.new" "${size}M" > /dev/null

# --- initramfs -----------------------------------------------------------------
i=$work/initramfs
mkdir -p "$i"/{bin,mod,proc,sys,dev,root}
cp "$(command -v busybox)" "$i/bin/busybox"
for m in virtio_pci virtio_blk virtio_rng virtio_console virtio_net 9pnet_virtio 9p ext4 overlay; do
	modprobe -d "$work/kernel" -S "$version" --show-depends "$m" 2>/dev/null | sed -n 's/^insmod //p' |
		while read -r f _; do
			b=$(basename "$f")
			ls "$i/mod" | grep -q -- "-$b$" && continue
			cp "$f" "$i/mod/$(printf %03d "$(ls "$i/mod" | wc -l)")-$b"
		done
done
# a soft dependency of ext4, which modprobe does not list
f=$(find "$work/kernel/lib/modules" -name 'crc32c_generic.ko*' | head -1)
[ -z "$f" ] || cp "$f" "$i/mod/000-$(basename "$f")"
cat > "$i/init" <<'J'
#!/bin/busybox sh
export PATH=/bin
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for m in /mod/*; do
	insmod "$m" 2>/dev/null
done
n=0
while [ ! -b /dev/vda ] && [ $n -lt 200 ]; do
	sleep 0.02
	n=$((n+1))
done
mount -t ext4 -o noatime /dev/vda /root || { echo "initrd: no root"; reboot -f; }
share() { # TAG DIRECTORY OPTIONS
	mkdir -p "/root$2"
	mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,access=any$3" "$1" "/root$2" ||
		echo "initrd: mounting $1 failed"
}
share job /vm
if [ -f /root/vm/shares ]; then
	while read -r tag path mode; do
		[ "$mode" = ro ] && o=,ro || o=
		share "$tag" "$path" "$o,cache=loose"
	done < /root/vm/shares
fi
if [ -b /dev/vdb ]; then
	mkswap /dev/vdb >/dev/null && swapon /dev/vdb
fi
umount /proc /sys
mount -o move /dev /root/dev 2>/dev/null
exec switch_root /root /sbin/init
J
chmod 755 "$i/init"
(cd "$i" && find . | LC_ALL=C sort | cpio -o -H newc --quiet --reproducible | zstd -q -9 > "$out/initrd.img.new")

mv "$out/root.ext4.new" "$out/root.ext4"
mv "$out/initrd.img.new" "$out/initrd.img"
cp "$work"/kernel/boot/vmlinuz-* "$out/vmlinuz"
cp "$work"/kernel/boot/config-* "$out/kernel.config"
# The uncompressed kernel starts through its PVH entry and saves 15 s of unpacking itself under emulation.
rm -f "$out/vmlinux"
while IFS=: read -r offset magic; do
	case $magic in
	*7zXZ) unpack='xz -dc';;
	*) unpack='zstd -dcq';;
	esac
	tail -c +$((offset + 1)) "$out/vmlinuz" | $unpack > "$work/vmlinux" 2>/dev/null || true
	if [ "$(head -c 4 "$work/vmlinux" | tail -c 3)" = ELF ]; then
		cp "$work/vmlinux" "$out/vmlinux"
		break
	fi
done < <(LC_ALL=C grep -aboP '\xfd7zXZ|\x28\xb5\x2f\xfd' "$out/vmlinuz" | LC_ALL=C tr -d '\375')
{
	echo "stamp=$stamp"
	echo "kernel=$version"
	echo "package=$real"
	echo "packages=$packages"
} > "$out/image.info"
echo "build-image: kernel $version, $(du -m "$out/root.ext4" | cut -f1) MiB on disk, built in ${SECONDS} s in $out"
