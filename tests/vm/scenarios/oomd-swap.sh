# systemd-oomd ends a unit because memory and swap are both used up.
oomd_conf 'SwapUsedLimit=40%'
systemctl set-property --runtime swapt.slice ManagedOOMSwap=kill
ordinary systemd-run --quiet --wait --unit=swapv --slice=swapt.slice -p Delegate=yes -E VIGIL_STATE_DIR="$VIGIL_STATE_DIR" \
	-p StandardError=file:"$OUT/run.err" "$VIGIL" run --quiet --memory-threshold 0 -- "$BIN/hog" --max 600M --hold 60s
fact run.status $?
explain
journalctl -b -u systemd-oomd -u swapv -o cat --no-pager > "$OUT/journal"
systemctl stop swapt.slice systemd-oomd systemd-oomd.socket
