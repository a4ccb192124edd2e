# SPDX-License-Identifier: Apache-2.0
# Drives the completion of an installed Warpage in an interactive zsh: completion.zsh FOLDER-OF-SCRIPTS; `warpage` is in $PATH.
zmodload zsh/zpty || exit 77
failed=0
is() { # line, what it becomes
    local output= chunk
    zpty shell "zsh -f -i" || exit 77
    zpty -w shell "PS1= RPS1=; TERM=dumb; stty -echo; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -u -D"
    zpty -w shell "show() { print -r -- \"<<\$BUFFER>>\"; BUFFER=; zle accept-line }; zle -N show; bindkey '^X' show"
    zpty -w shell "print READY"
    zpty -m -r shell chunk '*READY*READY*' 2>/dev/null || zpty -r -m shell chunk '*READY*'
    zpty -w -n shell "$2"$'\t\C-X'
    zpty -r -m shell output '*<<*>>*'
    zpty -d shell
    output=${${output##*<<}%%>>*}
    [[ $output == $3 ]] || { print -r -- "'$2' becomes '$output', not '$3'"; failed=1 }
}
is $1 'warpage comp' 'warpage compare '
is $1 'warpage run --mig' 'warpage run --migrate='
is $1 'warpage run --device sim:gtx1' 'warpage run --device sim:gtx1080ti '
is $1 'warpage run --device=sim:gtx1' 'warpage run --device=sim:gtx1080ti '
is $1 'warpage run --device sim:k80 --migrate adapt' 'warpage run --device sim:k80 --migrate adaptive '
is $1 'warpage run --set paging.migrate=adapt' 'warpage run --set paging.migrate=adaptive '
is $1 'warpage compare --format j' 'warpage compare --format json '
is $1 'warpage trace repl' 'warpage trace replay '
is $1 'warpage trace replay --pol' 'warpage trace replay --policy-file='
is $1 'warpage policies thr' 'warpage policies thrash '
is $1 'wpcc --pol' 'wpcc --policy '
exit $failed
