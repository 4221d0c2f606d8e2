#!/bin/bash
# Fetch the rival guards without installing them: Debian's packages start their services at once, on the whole machine.
# They are unpacked under ${VIGIL_PEERS} (default: vigil-peers in the user's cache), where guards.sh looks for what is
# not installed anyway.
#   peers.sh
set -eu
dir=${VIGIL_PEERS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vigil-peers}
[ ! -e "$dir/usr/bin/earlyoom" ] || [ ! -e "$dir/usr/sbin/nohang" ] || exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -q earlyoom nohang > log 2>&1 || {
	echo "peers: cannot download earlyoom and nohang; run apt-get update first" >&2
	exit 1
}
mkdir -p "$dir"
for package in ./*.deb; do
	dpkg-deb -x "$package" "$dir"
done
