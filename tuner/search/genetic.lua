-- A genetic algorithm: a child has each value from one of two parents, and maybe one of a neighbour; it takes the place of the worst if it
-- is better.
local POPULATION, MUTATION = 20, 0.5

return function(space)
  local points = lib.points(space)

  -- The better of two.
  local function parent(people)
    local a, b = people[1 + random(#people)], people[1 + random(#people)]
    return a.cost < b.cost and a or b
  end

  local function child(a, b)
    local v, places = points.of(a.index)
    local w, others = points.of(b.index)
    for i = 1, v == w and #places or 0 do
      if random(2) == 1 then places[i] = others[i] end
    end
    local index = points.near(v, places)
    return lib.chance() < MUTATION and lib.walk(space, index, 1) or index
  end

  local function evolve(try, memory)
    local people, first = {}, {}
    for i = 1, math.min(POPULATION, memory.left) do first[i] = random(space:count()) end
    if memory.best then first[1] = memory.best end
    for i, cost in ipairs(try(first)) do people[i] = { index = first[i], cost = cost } end
    for _ = 1, 50 * POPULATION do
      local children, there = {}, {}
      for _, p in ipairs(people) do there[p.index] = true end
      for i = 1, memory.width do
        local index = child(parent(people), parent(people))
        for _ = 1, 10 do -- one that is new
          if not memory.given[index] then break end
          index = lib.walk(space, index, 1)
        end
        children[i] = index
      end
      for i, cost in ipairs(try(children)) do
        local worst = 1
        for j, p in ipairs(people) do worst = p.cost > people[worst].cost and j or worst end
        if cost < people[worst].cost and not there[children[i]] then
          there[children[i]] = true
          people[worst] = { index = children[i], cost = cost }
        end
      end
    end
  end

  return lib.loop(space, evolve)
end
