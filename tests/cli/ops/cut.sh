# For cut.test. `. cut.sh`, then: acts ACT... makes an op of which the P-th configuration does what the P-th ACT says; reference ACT is what its
# reference does; run tunes it, and prints what came of each.
acts() {
    printf '//@ local acts = { %s }\n//null: $(acts[P])\nKERNEL void acts() { }\n' "$(printf "'%s', " "$@")" >cut.cu
    sed "s/COUNT/$#/" "$OPS/cut.lua" >cut.lua
    reference time=5000
    rm -f cut.db
}
reference() { printf '//null: %s\nKERNEL void ref(GLOBAL T *out, GLOBAL const T *in, int64 n) { }\n' "$1" >cut_ref.cu; }
run() { told "$@" | paste -sd';' | sed 's/ *;/; /g; s/ *$//'; }
told() {
    cutune run --op cut.lua --device null:0 --db cut.db --quiet --strategy exhaustive --jobs 1 --json "$@" |
        jq -r '.results[0] | "best \(.best.config.P // 0) of \(.tried)"' || return
    cutune list --measurements --db cut.db --json | jq -r 'map(select(.stale | not)) | sort_by(.config.P)[] | "\(.config.P) \(.outcome) \(.reason // "")"'
}
