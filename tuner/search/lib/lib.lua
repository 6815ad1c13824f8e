-- What strategies share: the global `lib`. docs/strategies.md is the guide.
local lib = {}
local huge = math.huge

-- A number of [0, 1).
function lib.chance()
  return random(1 << 30) / (1 << 30)
end

-- The list, in a random order, in place.
function lib.shuffle(list)
  for i = #list, 2, -1 do
    local j = 1 + random(i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

-- So many random steps from a configuration, each to a neighbour.
function lib.walk(space, index, steps)
  for _ = 1, steps do
    local near = space:neighbours(index)
    if #near == 0 then break end
    index = near[1 + random(#near)]
  end
  return index
end

-- What was tried, and what came of it: memory.cost[index], huge for what failed; memory.best and its best_cost; memory.given[index].
-- memory:untried() gives a random configuration that was not given out yet; nil if there is none. memory:give(index) notes that one
-- was; memory:hear(list) is for tell.
function lib.memory(space)
  local count, cursor = space:count(), 0
  local memory = { cost = {}, given = {}, left = count, best_cost = huge }

  function memory:untried()
    for _ = 1, 20 do
      local index = random(count)
      if not self.given[index] then return index end
    end
    while cursor < count and self.given[cursor] do cursor = cursor + 1 end
    return cursor < count and cursor or nil
  end

  function memory:give(index)
    self.given[index] = true
    self.left = self.left - 1
    return index
  end

  function memory:hear(list)
    for _, o in ipairs(list) do
      local cost = o.cost or huge
      self.cost[o.index] = cost
      if cost < self.best_cost then self.best, self.best_cost = o.index, cost end
    end
  end

  return memory
end

-- A search that is written as a plain loop: body(try, memory). try(list) has all of these configurations tried, unless they were before,
-- and returns their costs. When body returns, it is called again; so it is one descent, say, of many. memory.width is how many may be
-- tried at a time. If a body finds nothing new for long, something random is tried beside what it wants.
function lib.loop(space, body)
  local memory, queue, first, pending, missing, idle = lib.memory(space), {}, 1, {}, 0, 0

  local function want(index)
    if memory.given[index] then return false end
    queue[#queue + 1] = memory:give(index)
    pending[index] = true
    missing = missing + 1
    return true
  end

  local function try(list)
    local new = false
    for _, index in ipairs(list) do new = want(index) or new end
    idle = new and 0 or idle + 1
    if idle > 50 then
      local index = memory:untried()
      idle = 0
      if index then want(index) end
    end
    while missing > 0 or memory.left == 0 do coroutine.yield() end
    local costs = {}
    for i, index in ipairs(list) do costs[i] = memory.cost[index] or huge end
    return costs
  end

  local running
  local function go_on()
    if not running or coroutine.status(running) == "dead" then running = coroutine.create(body) end
    local good, why = coroutine.resume(running, try, memory)
    if not good then error(why, 0) end
  end

  local function ask(k)
    memory.width = k
    while missing == 0 and memory.left > 0 do go_on() end
    local list = {}
    while #list < k and queue[first] do
      list[#list + 1] = queue[first]
      queue[first] = nil
      first = first + 1
    end
    if not queue[first] then queue, first = {}, 1 end
    return (#list > 0 or missing > 0) and list or "done"
  end

  local function tell(list)
    memory:hear(list)
    for _, o in ipairs(list) do
      if pending[o.index] then
        pending[o.index] = nil
        missing = missing - 1
      end
    end
  end

  return { ask = ask, tell = tell }
end

-- Configurations as points: lib.points(space) gives of(index), a variant's number and a list of places, one for each parameter, from 1;
-- and near(variant, places), the index of a valid configuration near these places, which may be fractions and out of bounds. Numbers
-- are in ascending order, other values in that of the script.
function lib.points(space)
  local variants, number = space:variants(), {}
  for v, variant in ipairs(variants) do
    number[variant.name] = v
    for _, p in ipairs(variant.params) do
      local numbers = true
      for _, value in ipairs(p.values) do numbers = numbers and math.type(value) ~= nil end
      if numbers then table.sort(p.values) end
      p.place = {}
      for i, value in ipairs(p.values) do p.place[value] = i end
    end
  end

  local points = { variants = variants }

  function points.of(index)
    local config, places = space:config(index), {}
    local v = number[config.variant]
    for i, p in ipairs(variants[v].params) do places[i] = p.place[config[p.name]] end
    return v, places
  end

  function points.near(v, places)
    local config = { variant = variants[v].name }
    for i, p in ipairs(variants[v].params) do
      local place = math.floor(places[i] + 0.5)
      config[p.name] = p.values[math.max(1, math.min(#p.values, place))]
    end
    return space:near(config)
  end

  return points
end

return lib
