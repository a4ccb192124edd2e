#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Draws what results.json says: plot.sh >docs/guide/tlb-sharing-beyond.svg
set -euo pipefail
cd "$(dirname "$0")"
data=$(mktemp)
trap 'rm -f "$data"' EXIT

of() { jq --exit-status --arg name "$1" '.[$name].ours' results.json; }

# A row for each number of SMs, then, as a second block, one for each program; a column for each line.
for sms in 16 28 56 132; do
    row=$sms
    for line in "1 port: NeiDty" "1 port: NeiDty-twice" "1 port: Valkyrie" \
        "any number of ports: NeiDty" "any number of ports: Valkyrie"; do
        row+=" $(of "$sms SMs, $line: kernel speed-up")"
    done
    echo "$row"
done >"$data"
printf '\n\n' >>"$data"
for program in srad pagerank xs-lookup; do
    row=$program
    for ports in "1 port" "4 ports, merged misses" "any number of ports"; do
        for policy in NeiDty Valkyrie; do
            row+=" $(of "132 SMs, $ports: $program: kernel speed-up, $policy")"
        done
    done
    echo "$row"
done >>"$data"

gnuplot <<EOF
set encoding utf8
set terminal svg size 900,400 standalone noenhanced name 'beyond' background 'white' font 'sans-serif,12'
set grid ytics
set border 3
set tics nomirror
set multiplot layout 1,2
set yrange [0:*]
set ylabel 'times as fast as with private TLBs'
set title 'Kernels, all three programs'
set xlabel 'SMs'
set logscale x 2
set xrange [14:150]
set xtics (16, 28, 56, 132)
set key below maxcols 2 reverse Left
plot 1 lc 'black' notitle, \
     '$data' index 0 using 1:2 with linespoints lc 1 pt 7 title 'NeiDty, 1 port', \
     '' index 0 using 1:3 with linespoints lc 2 pt 7 title 'NeiDty-twice, 1 port', \
     '' index 0 using 1:4 with linespoints lc 4 pt 7 title 'Valkyrie, 1 port', \
     '' index 0 using 1:5 with linespoints lc 1 dt 2 pt 6 title 'NeiDty, any number', \
     '' index 0 using 1:6 with linespoints lc 4 dt 2 pt 6 title 'Valkyrie, any number'
unset logscale x
set title 'Kernels, 132 SMs'
unset xlabel
unset ylabel
set xrange [*:*]
set xtics autofreq
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set key below maxcols 3 reverse Left
plot '$data' index 1 using 2:xtic(1) lc rgb '#08519c' title 'NeiDty, 1 port', \
     '' index 1 using 4 lc rgb '#4292c6' title '4 ports', \
     '' index 1 using 6 lc rgb '#c6dbef' title 'any number', \
     '' index 1 using 3 lc rgb '#a63603' title 'Valkyrie, 1 port', \
     '' index 1 using 5 lc rgb '#f16913' title '4 ports', \
     '' index 1 using 7 lc rgb '#fdd0a2' title 'any number'
EOF
