printf '\177ELF\002\001\001' > trainer
head -c 57 /dev/zero >> trainer
chmod +x trainer
echo "starting ./trainer"
sleep 0.5
./trainer --epochs 3 || exit $?
