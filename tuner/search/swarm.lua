-- Particle swarm: particles fly through the space, drawn to the best place that each has seen and to the best of all.
local PARTICLES, INERTIA, OWN, ALL = 20, 0.5, 1.5, 1.5

return function(space)
  local points = lib.points(space)

  local function start(index)
    local v, at = points.of(index)
    local p = { v = v, at = at, speed = {}, best = at, cost = math.huge }
    for i = 1, #at do p.speed[i] = 2 * lib.chance() - 1 end
    return p
  end

  local function fly(p, best)
    local v, all = points.of(best)
    all = v == p.v and all or p.best
    local at = {}
    for i, x in ipairs(p.at) do
      p.speed[i] = INERTIA * p.speed[i] + OWN * lib.chance() * (p.best[i] - x) + ALL * lib.chance() * (all[i] - x)
      at[i] = math.max(1, math.min(#points.variants[p.v].params[i].values, x + p.speed[i]))
    end
    p.at = at
    return points.near(p.v, at)
  end

  local function search(try, memory)
    local swarm, first = {}, {}
    for i = 1, math.min(PARTICLES, memory.left) do
      first[i] = i == 1 and memory.best or random(space:count())
      swarm[i] = start(first[i])
    end
    for i, cost in ipairs(try(first)) do swarm[i].cost = cost end
    for _ = 1, 30 do
      for from = 1, #swarm, memory.width do
        local some = {}
        for i = from, math.min(#swarm, from + memory.width - 1) do some[#some + 1] = fly(swarm[i], memory.best or first[i]) end
        for i, cost in ipairs(try(some)) do
          local p = swarm[from + i - 1]
          if cost < p.cost then p.cost, p.best = cost, p.at end
        end
      end
    end
  end

  return lib.loop(space, search)
end
