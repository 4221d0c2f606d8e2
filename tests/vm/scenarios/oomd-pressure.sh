# systemd-oomd ends a unit of a slice for memory pressure. In the first run vigil may divide its unit; in the second
# the unit is systemd's alone, and vigil asks for a scope in the same slice. Either way vigil outlives its job.
oomd_conf 'DefaultMemoryPressureDurationSec=2s\nSwapUsedLimit=95%'
systemctl set-property --runtime press.slice ManagedOOMMemoryPressure=kill ManagedOOMMemoryPressureLimit=3% MemoryHigh=120M
state=$VIGIL_STATE_DIR out=$OUT
for delegate in yes no; do
	export VIGIL_STATE_DIR=$state-$delegate OUT=$out/$delegate
	mkdir -p "$OUT"
	ordinary systemd-run --quiet --wait --unit=victim-$delegate --slice=press.slice -p Delegate=$delegate \
		-E VIGIL_STATE_DIR="$VIGIL_STATE_DIR" -p StandardError=file:"$OUT/run.err" \
		"$VIGIL" run --quiet --memory-threshold 0 -- "$BIN/hog" --max 300M --hold 60s
	fact run.status $?
	fact result "$(systemctl show -P Result victim-$delegate)"
	explain
	journalctl -b -u systemd-oomd -u victim-$delegate -o cat --no-pager > "$OUT/journal"
done
systemctl stop press.slice systemd-oomd systemd-oomd.socket
