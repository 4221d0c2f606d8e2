# A stage of a Makefile fails: its tool finds too few rows.
printf 'all: report\nclean.csv:\n\t@echo "step 1 clean"; sleep 2; touch clean.csv\nreport: clean.csv\n\t@sleep 1; echo "validate: 3 of 500 rows have a label" >&2; exit 4\n' > Makefile
make report
