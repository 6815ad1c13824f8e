-- Iterated local search: from a configuration to the first better neighbour, until none is better; then a few random steps away from the
-- best so far, and again. Sometimes it begins anywhere.
local STEPS, ANYWHERE = 3, 0.1

return function(space)
  local function descend(try, memory)
    local at = random(space:count())
    if memory.best and lib.chance() >= ANYWHERE then at = lib.walk(space, memory.best, STEPS) end
    local cost, better = try({ at })[1], true
    while better do
      better = false
      local near = lib.shuffle(space:neighbours(at))
      for first = 1, #near, memory.width do
        local some = table.move(near, first, math.min(#near, first + memory.width - 1), 1, {})
        for i, c in ipairs(try(some)) do
          if c < cost then at, cost, better = some[i], c, true end
        end
        if better then break end
      end
    end
  end

  return lib.loop(space, descend)
end
