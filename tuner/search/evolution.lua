-- Differential evolution: a member tries the best's place, moved by the difference of two others, in some of its parameters; it goes there if
-- that is better.
local POPULATION, SCALE, CROSS = 20, 0.7, 0.7

return function(space)
  local points = lib.points(space)

  local function move(member, best, a, b)
    local v, places = points.of(member.index)
    local vb, at = points.of(best)
    local va, pa = points.of(a.index)
    local vc, pc = points.of(b.index)
    if v ~= vb or v ~= va or v ~= vc then return lib.walk(space, best, 1) end
    for i = 1, #places do
      if lib.chance() < CROSS then places[i] = at[i] + SCALE * (pa[i] - pc[i]) end
    end
    return points.near(v, places)
  end

  local function evolve(try, memory)
    local people, first, still = {}, {}, 0
    for i = 1, math.min(POPULATION, memory.left) do first[i] = random(space:count()) end
    if memory.best then first[1] = memory.best end
    for i, cost in ipairs(try(first)) do people[i] = { index = first[i], cost = cost } end
    while still < 5 do -- rounds without anybody's move
      still = still + 1
      for from = 1, #people, memory.width do
        local some, to = {}, math.min(#people, from + memory.width - 1)
        for m = from, to do
          local a, b = people[1 + random(#people)], people[1 + random(#people)]
          some[#some + 1] = move(people[m], memory.best or first[1], a, b)
        end
        for i, cost in ipairs(try(some)) do
          local member = people[from + i - 1]
          if cost < member.cost then member.index, member.cost, still = some[i], cost, 0 end
        end
      end
    end
  end

  return lib.loop(space, evolve)
end
