# Completion of cutune for bash: asks the program, which knows its own options.

# What is left of the cursor, without quotes: `word`, and `rest`, its part that bash completes, behind a quote that is open or the last
# character that parts words for it. `quote`: the open one.
_cutune_word() {
    local line=${COMP_LINE:0:COMP_POINT} c i
    word= rest= quote=
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ $c == "$quote" ]]; then
            quote=
            continue
        elif [[ $c == \\ && $quote != \' ]]; then
            ((++i))
            c=${line:i:1}
        elif [[ ! $quote && $c == [\'\"] ]]; then
            quote=$c rest=
            continue
        elif [[ ! $quote && $c == [[:space:]] ]]; then
            word= rest=
            continue
        elif [[ ! $quote && $c == [=:] && $COMP_WORDBREAKS == *"$c"* ]]; then
            word+=$c rest=
            continue
        fi
        word+=$c rest+=$c
    done
}
# A name with a * or a [ is a name, no pattern.
_cutune_names() {
    compopt -o filenames 2>/dev/null
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$@" -- "$rest")
}
_cutune() {
    local IFS=$'\n' answer word rest quote
    _cutune_word
    COMPREPLY=()
    while read -r answer; do
        case $answer in
        :folders) _cutune_names -d ;;
        ':files '*)
            _cutune_names -f -X "!*${answer#:files }"
            _cutune_names -d
            ;;
        :files) _cutune_names -f ;;
        *)
            answer=${answer%%$'\t'*}
            COMPREPLY+=("${answer#"${word%"$rest"}"}")
            ;;
        esac
    done < <("${1/#\~/$HOME}" complete "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _cutune cutune
