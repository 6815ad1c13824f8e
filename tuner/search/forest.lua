-- A surrogate: randomised trees learn which configurations are fast, and choose among neighbours of the best few, others some steps away
-- from them, and random ones. It never waits: whatever is asked for, it gives the most promising that is left.
local START, TREES, FEATURES, LEAF = 20, 8, 0.5, 2
local ELITES, STEPS, RANDOM, BRAVE = 3, 20, 20, 0.5
local MOST = 2000 -- rows that a tree learns from: so the time for an answer has a bound

return function(space)
  local memory, points = lib.memory(space), lib.points(space)
  local offset, width = {}, 0
  for v, variant in ipairs(points.variants) do
    offset[v] = width
    width = width + #variant.params + 1
  end

  -- A configuration's features: the places of its own variant's parameters, and 1 for the variant; 0 for those of others.
  local seen = {}
  local function features(index)
    if seen[index] then return seen[index] end
    local v, places = points.of(index)
    local x = {}
    for f = 1, width do x[f] = 0 end
    x[offset[v] + 1] = 1
    for i, place in ipairs(places) do x[offset[v] + 1 + i] = place end
    seen[index] = x
    return x
  end

  -- A tree over rows from..to: the best of some random splits, again and again. A leaf is a number.
  local function split(rows, from, to)
    local best, feature, cut = 0, nil, nil
    local sum, n = 0, to - from + 1
    for i = from, to do sum = sum + rows[i].y end
    if n < 2 * LEAF then return sum / n end
    for _ = 1, math.max(1, FEATURES * width // 1) * 2 do
      local f = 1 + random(width)
      local low, high = math.huge, -math.huge
      for i = from, to do
        local value = rows[i].x[f]
        if value < low then low = value end
        if value > high then high = value end
      end
      if low < high then
        local at, left, count = low + lib.chance() * (high - low), 0, 0
        for i = from, to do
          local row = rows[i]
          if row.x[f] <= at then left, count = left + row.y, count + 1 end
        end
        local right = sum - left
        local gain = left * left / count + right * right / (n - count) - sum * sum / n
        if gain > best + 1e-12 then best, feature, cut = gain, f, at end
      end
    end
    if not feature then return sum / n end
    local middle = from
    for i = from, to do
      if rows[i].x[feature] <= cut then
        rows[i], rows[middle] = rows[middle], rows[i]
        middle = middle + 1
      end
    end
    return { feature, cut, split(rows, from, middle - 1), split(rows, middle, to) }
  end

  local rows, elites, trees, fitted = {}, {}, {}, 0

  local function fit()
    local known = {}
    for _, row in ipairs(rows) do
      if row.cost < math.huge then known[#known + 1] = math.log(row.cost) end
    end
    table.sort(known)
    local worst = known[math.max(1, #known * 3 // 4)] or 0 -- how bad the bad ones are does not matter
    for _, row in ipairs(rows) do row.y = row.cost < math.huge and math.min(math.log(row.cost), worst) or worst end
    for t = 1, TREES do
      local some = #rows <= MOST and table.move(rows, 1, #rows, 1, {}) or table.move(elites, 1, #elites, 1, {})
      while #some < math.min(MOST, #rows) do some[#some + 1] = rows[1 + random(#rows)] end
      trees[t] = split(some, 1, #some)
    end
    fitted = #rows
  end

  -- The less, the better: the mean of the trees, less their spread.
  local function promise(index)
    local x, sum, squares = features(index), 0, 0
    for _, tree in ipairs(trees) do
      while type(tree) == "table" do tree = x[tree[1]] <= tree[2] and tree[3] or tree[4] end
      sum, squares = sum + tree, squares + tree * tree
    end
    local mean = sum / TREES
    return mean - BRAVE * math.sqrt(math.max(0, squares / TREES - mean * mean))
  end

  local queue, stale = {}, true

  local function plan()
    if #rows > 1.05 * fitted then fit() end
    local there, candidates = {}, {}
    local function add(index)
      if index and not memory.given[index] and not there[index] then
        there[index] = true
        candidates[#candidates + 1] = { index = index, promise = promise(index) }
      end
    end
    for _, elite in ipairs(elites) do
      for _, index in ipairs(space:neighbours(elite.index)) do add(index) end
      for i = 1, STEPS do add(lib.walk(space, elite.index, 2 + i % 2)) end
    end
    for _ = 1, RANDOM do add(memory:untried()) end
    table.sort(candidates, function(a, b)
      return a.promise < b.promise or (a.promise == b.promise and a.index < b.index)
    end)
    queue, stale = {}, false
    for i = math.min(#candidates, 1 + #rows // 40), 1, -1 do queue[#queue + 1] = candidates[i].index end
  end

  local function choose()
    if #rows < START and memory.left > 0 then return memory:untried() end
    if stale or #queue == 0 then plan() end
    return table.remove(queue) or memory:untried()
  end

  local function ask(k)
    local list = {}
    while #list < k and memory.left > 0 do list[#list + 1] = memory:give(choose()) end
    return #list > 0 and list or "done"
  end

  local function tell(list)
    local best = memory.best
    for _, o in ipairs(list) do
      if not memory.cost[o.index] then
        local row = { index = o.index, cost = o.cost or math.huge, x = features(o.index) }
        rows[#rows + 1] = row
        local at = #elites + 1
        while at > 1 and row.cost < elites[at - 1].cost do at = at - 1 end
        table.insert(elites, at, row)
        elites[ELITES + 1] = nil
      end
      memory:hear { o }
    end
    stale = stale or memory.best ~= best
  end

  return { ask = ask, tell = tell }
end
