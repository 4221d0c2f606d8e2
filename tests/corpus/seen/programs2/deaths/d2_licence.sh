echo "Solver 11.2 starting"; sleep 0.3
echo "ERROR: License checkout failed: Licensed number of users already reached. (-4,132)" >&2
echo "For further information, refer to the FlexNet Licensing documentation," >&2
echo "available at \"www.vendor.com\"." >&2
exit 3
