# Completion of cutune for bash: asks the program, which knows its own options.
# A name with a * or a [ is a name, no pattern.
_cutune_names() {
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$@" -- "$rest")
}
_cutune() {
    local IFS=$'\n' line=${COMP_LINE:0:COMP_POINT} answer word rest
    word=${line##*[[:space:]]} rest=$word
    # What bash completes is what follows the last of these; the program answers with whole words.
    [[ $COMP_WORDBREAKS != *=* ]] || rest=${rest##*=}
    [[ $COMP_WORDBREAKS != *:* ]] || rest=${rest##*:}
    COMPREPLY=()
    while read -r answer; do
        case $answer in
        :folders)
            compopt -o filenames 2>/dev/null
            _cutune_names -d
            ;;
        ':files '*)
            compopt -o filenames 2>/dev/null
            _cutune_names -f -X "!*${answer#:files }"
            _cutune_names -d
            ;;
        :files)
            compopt -o filenames 2>/dev/null
            _cutune_names -f
            ;;
        *)
            answer=${answer%%$'\t'*}
            COMPREPLY+=("${answer#"${word%"$rest"}"}")
            ;;
        esac
    done < <("${1/#\~/$HOME}" complete "$line" 2>/dev/null)
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -F _cutune cutune
