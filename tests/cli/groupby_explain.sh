# SPDX-License-Identifier: Apache-2.0
# What was chosen and why: on the processor, and on a GPU for a table larger than a TLB reaches.
awk 'BEGIN { print "k"; for (i = 0; i < 2000; i++) print i % 3 * i }' >t.csv
warpage groupby --key k --threads 2 --explain t.csv >/dev/null
warpage groupby --key k --device sim:k80 --groups 3000000 --strategy partition --explain t.csv >/dev/null
awk 'BEGIN { print "k,v"; for (i = 0; i < 2000; i++) print "1," i }' >hot.csv
warpage groupby --key k --agg count,sum:v,min:v,max:v --device sim:k80 --set link.bandwidth=120GB/s --groups 1000 --explain hot.csv
