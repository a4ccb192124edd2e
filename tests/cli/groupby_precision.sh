# SPDX-License-Identifier: Apache-2.0
# Floats: for programs the shortest digits that read back exactly, for people 15, or --precision's.
printf 'k,v,n\n1,0.1,1\n1,0.2,2\n2,1e15,3\n2,0.3333333333333333,4\n3,1234567.5,5\n' >t.csv
warpage groupby --key k --agg sum:v,sum:n,avg:n t.csv
warpage groupby --key k --agg sum:v,sum:n,avg:n --format text t.csv
warpage groupby --key k --agg sum:v,sum:n --precision 3 t.csv
warpage groupby --key k --agg sum:v --precision 17 --format json t.csv
warpage groupby --key k --types v:float32 --agg max:v --format text t.csv
warpage groupby --key k --precision 0 t.csv 2>&1 | head -n 1
warpage groupby --key k --precision 18 t.csv 2>&1 | head -n 1
