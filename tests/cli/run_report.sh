# SPDX-License-Identifier: Apache-2.0
# Reports take the form of their ending.
for form in txt json csv; do warpage run --report "r.$form" "$CASES/programs/records" 7 >/dev/null || echo "$?"; done
head -n 1 r.csv; grep -c exit_status r.json; grep -c "run of records" r.txt; ls
