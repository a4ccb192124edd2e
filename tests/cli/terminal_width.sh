# SPDX-License-Identifier: Apache-2.0
# On a terminal lists fit its width, and nothing is lost; in a pipe a row is a line.
LC_ALL=C.UTF-8
export LC_ALL
on_terminal() { # COLUMNS COMMAND…: as a terminal of that width shows it
    columns=$1
    shift
    script -qec "stty cols $columns; $*" /dev/null | tr -d '\r'
}
check() {
    for columns in 60 80 132; do
        on_terminal $columns "$@" >shown
        [ "$(wc -L <shown)" -le $columns ] || echo "$*: $(wc -L <shown) characters on $columns"
        # Names of columns become "name:" beneath a row, two cells may be one heading, and words
        # may be divided at hyphens.
        "$@" | sed "1d; /^cpu /d" >whole # its clock changes
        tr -s ' :/-' '\n' <whole | sort -u >all
        tr -s ' :/-' '\n' <shown | sort -u | comm -23 all - | sed "s|^|$*: lost on $columns: |"
    done
}
check warpage policies
check warpage reproduce --list
check warpage params
check warpage params --device sim:k80
check warpage devices
# COLUMNS is for a terminal that does not say how wide it is; where none does, it has 80.
script -qec 'stty cols 0; COLUMNS=50 warpage policies' /dev/null | tr -d '\r' >shown
[ "$(wc -L <shown)" -le 50 ] && [ "$(wc -L <shown)" -gt 40 ] || echo "COLUMNS is not used: $(wc -L <shown)"
script -qec 'stty cols 0; unset COLUMNS; warpage policies' /dev/null | tr -d '\r' >shown
[ "$(wc -L <shown)" -le 80 ] && [ "$(wc -L <shown)" -gt 70 ] || echo "80 is not used: $(wc -L <shown)"
COLUMNS=40 warpage policies >piped
[ "$(wc -l <piped)" -eq "$(warpage policies --format json | grep -c '"policy"' | awk '{ print $1 + 1 }')" ] ||
    echo "in a pipe a row is not a line"
on_terminal 80 warpage policies scheduler
