-- Simulated annealing: a random neighbour is taken if it is better, or by chance if it is not much worse; less and less so as it cools.
-- When it is cold, it begins again from the best so far.
local HOT, COLD, COOLING = 0.3, 0.01, 0.97

return function(space)
  local function anneal(try, memory)
    local at = memory.best or random(space:count())
    local cost, heat = try({ at })[1], HOT
    while heat > COLD do
      local near = lib.shuffle(space:neighbours(at))
      if #near == 0 then return end
      local some = table.move(near, 1, math.min(#near, memory.width), 1, {})
      for i, c in ipairs(try(some)) do
        if c <= cost or (c < math.huge and lib.chance() < math.exp((math.log(cost) - math.log(c)) / heat)) then
          at, cost = some[i], c
        end
      end
      heat = heat * COOLING
    end
  end

  return lib.loop(space, anneal)
end
