#!/bin/bash
# Fetch the rivals without installing them: Debian's packages of guards start their services at once, on the whole
# machine. They are unpacked under ${VIGIL_PEERS} (default: vigil-peers in the user's cache), where guards.sh looks for
# what is not installed anyway; stack profilers come from PyPI into an environment there.
#   peers.sh
set -eu
dir=${VIGIL_PEERS:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vigil-peers}
if [ ! -x "$dir/python/bin/py-spy" ] || [ ! -x "$dir/python/bin/austin" ]; then
	/usr/bin/python3 -m venv "$dir/python" &&
		"$dir/python/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: py-spy==0.4.3 austin-dist==3.7.0 ||
		echo "peers: py-spy and austin cannot be had from PyPI" >&2
fi
# The heap profiler works on the system's Python, whose numpy and torch it measures: bench/heap.py.
if [ ! -x "$dir/heap/bin/memray" ]; then
	/usr/bin/python3 -m venv --system-site-packages "$dir/heap" &&
		"$dir/heap/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: memray==1.20.0 ||
		echo "peers: memray cannot be had from PyPI" >&2
fi
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
