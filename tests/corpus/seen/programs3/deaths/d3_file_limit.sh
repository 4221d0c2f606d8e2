ulimit -f 1024
echo "writing the checkpoint"
dd if=/dev/zero of=last.ckpt bs=64k count=100 status=none
exit $?
