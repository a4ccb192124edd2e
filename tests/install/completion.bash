# SPDX-License-Identifier: Apache-2.0
# Drives the completion of an installed Warpage as bash does: completion.bash FOLDER-OF-SCRIPTS; `warpage` is in $PATH.
set -u
failed=0
. "$1/warpage" || exit 1
. "$1/wpcc" || exit 1

# What the line, with the cursor at its end, is completed to.
answers() { # line, function
    COMP_LINE=$1 COMP_POINT=${#1}
    read -ra COMP_WORDS <<<"$1"
    case $1 in *' ') COMP_WORDS+=('') ;; esac
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    "${2:-_warpage}" 2>/dev/null
}
has() { # line, answers that must be there…
    local line=$1 wanted answer found
    shift
    answers "$line"
    for wanted; do
        found=
        for answer in "${COMPREPLY[@]}"; do [ "$answer" = "$wanted" ] && found=1; done
        [ -n "$found" ] || { echo "'$line' is not completed to '$wanted' but to: ${COMPREPLY[*]}" && failed=1; }
    done
}
is() { # line, all answers
    answers "$1"
    [ "${COMPREPLY[*]}" = "$2" ] || { echo "'$1' is completed to '${COMPREPLY[*]}', not '$2'" && failed=1; }
}

has 'warpage ' run compare trace help
is 'warpage co' 'compare'
has 'warpage run --' --device --policy-file --migrate --help
is 'warpage run --mig' '--migrate'
is 'warpage run --device sim:gtx1' 'gtx1080ti'
is 'warpage run --device=sim:gtx1' 'gtx1080ti'
has 'warpage run --device ' cpu sim:k80
is 'warpage run --device sim:k80 --migrate adapt' 'adaptive'
has 'warpage compare --evict ' lru-2m tree
is 'warpage run --device sim:k80 --set sm.sched' 'sm.schedulers= sm.scheduler='
is 'warpage run --set sm.scheduler=g' 'gto'
is 'warpage compare --vary migrate=always,adap' 'always,adaptive'
is 'warpage compare --vary device=sim:gtx1' 'gtx1080ti'
is 'warpage compare --format j' 'json'
is 'warpage trace re' 'record replay'
is 'warpage trace replay --pol' '--policy-file'
is 'warpage policies thr' 'thrash'
is 'warpage help dev' 'devices'
is 'warpage reproduce tlb-damon17/table2' 'tlb-damon17/table2 tlb-damon17/table2-search'
is 'warpage params policy-' 'policy-files'
has 'warpage run --device sim:k80 wa' warpage
is 'warpage run -- ./app --dev' '' # the program's own
is 'warpage run --policy-file mi' '' # files: bash's own
answers 'wpcc --pol' _wpcc
[ "${COMPREPLY[*]}" = '--policy' ] || { echo "wpcc --pol: ${COMPREPLY[*]}" && failed=1; }
exit $failed
