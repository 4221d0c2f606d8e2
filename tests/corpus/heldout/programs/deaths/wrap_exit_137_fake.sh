# a script leaves with 137 of its own will
sleep 2
echo 'lease lost, leaving as if killed'
exit 137
