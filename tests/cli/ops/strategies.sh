# For strategy.test. ask LUA: writes a strategy s.lua whose ask() has this body. run: tunes with it. tried: prints how many were tried.
ask() { printf 'return function(space) local n, heard = 0, 0 return { tell = function(l) heard = heard + #l end, ask = function(k) %s end } end\n' "$1" >s.lua; }
run() { cutune run --op $OPS/copy.lua --device null:0 --jobs 1 --quiet --retune --strategy ./s.lua "$@"; }
tried() { run --json "$@" | jq -c '[.results[].tried]'; }
