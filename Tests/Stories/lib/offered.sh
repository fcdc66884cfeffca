# The completions that a shell offers for an unfinished line, one a line. $completions is a directory with
# photospool.bash, _photospool and photospool.fish; photospool has to be in $PATH.

# offered_by bash|zsh|fish WORD...: the last word is the unfinished one.
offered_by() { "offered_by_$1" "${@:2}"; }

offered_by_bash() {
  bash --norc --noprofile -c '
    source "$completions/photospool.bash"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
    COMP_POINT=${#COMP_LINE} COMPREPLY=()
    _photospool "$1" "${@: -1}" "${@: -2:1}"
    printf "%s\n" "${COMPREPLY[@]}"' _ "$@"
}

# zsh and fish complete only where somebody types, so they get a terminal, from zsh. Their offers go into a file;
# those of zsh are taken from compadd.
offered_by_zsh() {
  typed zsh "$*" "zsh -f -i" '
    PROMPT= fpath=($completions $fpath); autoload -Uz compinit; compinit -u -D
    compadd() {
      [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] || {
        local -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >> offered
      }
      builtin compadd "$@"
    }
    offer() { _main_complete; print end-of-offers >> offered }
    zle -C offer complete-word offer; bindkey "^I" offer'
}

offered_by_fish() {
  typed fish "$*" "fish --no-config -i" '
    source $completions/photospool.fish
    function offer; complete -C | cut -f1 >> offered; echo end-of-offers >> offered; end
    bind \t offer'
}

# typed SHELL LINE COMMAND SETUP: starts the shell, has it carry out SETUP, and types LINE and a tab.
typed() {
  : > offered
  line="$2"$'\t' command=$3 setup=$4 timeout 60 zsh -f -c '
    zmodload zsh/zpty
    # until_there WORD: what the terminal shows is read away meanwhile.
    until_there() { until grep -qx "$1" offered; do zpty -rt shell output || sleep 0.05; done }
    zpty shell "$command"
    zpty -w shell "$setup
      echo is-ready >> offered"
    until_there is-ready
    zpty -n -w shell "$line"
    until_there end-of-offers
    zpty -d shell' > /dev/null || fail "$1 does not answer to $2"
  sed -e '/^is-ready$/d' -e '/^end-of-offers$/d' -e '/^$/d' offered
}
