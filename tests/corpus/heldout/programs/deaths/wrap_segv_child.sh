# the shell says Segmentation fault for its child, status 139
"$1" -c "import ctypes, time; time.sleep(1.5); ctypes.string_at(0)"
:
exit 139
