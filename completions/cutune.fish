# Completion of cutune for fish: asks the program, which knows its own options.
function __cutune_complete
    set -l program (commandline -opc)[1]
    for answer in (eval $program complete (string escape -- (commandline -cp)) 2>/dev/null)
        switch $answer
            case ':folders'
                __fish_complete_directories (commandline -ct)
            case ':files*'
                __fish_complete_suffix (string replace -r '^:files ?' '' -- $answer)
            case '*'
                echo $answer
        end
    end
end
complete -c cutune -f -a '(__cutune_complete)'
