# xargs: status 123
echo 1 | xargs -n 1 "$1" -c "raise OSError('bucket ml-data is gone')"
