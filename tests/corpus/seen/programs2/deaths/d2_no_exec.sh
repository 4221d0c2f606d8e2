echo "echo hi" > launch.sh; chmod 644 launch.sh
echo "starting ./launch.sh"
./launch.sh
