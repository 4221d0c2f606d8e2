echo "solver 11.2 starts"
sleep 0.5
echo "Error: no license available for feature 'mpc' (all 4 seats are in use)"
echo "Bye."
exit 1
