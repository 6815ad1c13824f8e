-- A surrogate: randomised trees learn which configurations are fast. Each choice is what a few of them, drawn anew, like best among
-- neighbours of the best few, mixtures of these, others some steps away, and random ones: so choices that are made at once differ. Some
-- choices are random, the more the longer nothing better was found, since a space may have little to learn.
local START, TREES, VOTERS, LEAF, TRIES = 4, 12, 4, 2, 1
local ELITES, MIXED, STEPS, RANDOM = 4, 20, 20, 300
local BLIND = 0.05             -- the share of choices that are random
local STALE, WIDE = 0.3, 20    -- times the share of the run since the best was found: of choices among so many random ones
local CLIP = 0.75              -- what is slower than this share is all the same; so is what failed
local MOST, GOOD = 400, 100    -- rows that a tree learns from, the best among them: so the time for an answer has a bound
local FRESH = 0.05             -- while the rows grow by that share all trees are made anew, one after the other
local AHEAD = 0.625            -- of the most that was asked for at a time: a run asks for two for each compiler

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

  -- A tree over rows from..to: the best of some random splits, each between the values of two rows, again and again. A leaf is a number.
  local function split(rows, from, to)
    local sum, n = 0, to - from + 1
    for i = from, to do sum = sum + rows[i].y end
    if n < 2 * LEAF then return sum / n end
    local most, feature, cut = sum * sum / n + 1e-9, nil, nil
    for _ = 1, TRIES * width do
      local f = 1 + random(width)
      local low, high = rows[from + random(n)].x[f], rows[from + random(n)].x[f]
      if low ~= high then
        local at, left, count = low + lib.chance() * (high - low), 0, 0
        for i = from, to do
          local row = rows[i]
          if row.x[f] <= at then left, count = left + row.y, count + 1 end
        end
        if count > 0 and count < n then
          local gain = left * left / count + (sum - left) * (sum - left) / (n - count)
          if gain > most then most, feature, cut = gain, f, at end
        end
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

  local candidates, picked, oldest = {}, math.huge, 0
  local rows, best, trees, due, improved = {}, {}, {}, 0, 0 -- best: rows, the best first; due: trees to be made anew

  local function guess(x, t)
    local tree = trees[t]
    while type(tree) == "table" do tree = x[tree[1]] <= tree[2] and tree[3] or tree[4] end
    return tree
  end

  -- Makes so many trees anew, the oldest first.
  local function grow(n)
    local known = {}
    for _, row in ipairs(rows) do
      if row.cost < math.huge then known[#known + 1] = row.cost end
    end
    table.sort(known)
    local first, worst = known[1], known[math.ceil(#known * CLIP)] -- how bad the bad ones are does not matter
    for _, row in ipairs(rows) do
      local better = #known > 0 and row.cost < worst
      row.y = better and (first > 0 and math.log(row.cost / worst) or (row.cost - worst) / (worst - first)) or 0
    end
    for _ = 1, n do
      local some = table.move(#rows <= MOST and rows or best, 1, math.min(#rows, #rows <= MOST and MOST or GOOD), 1, {})
      while #some < math.min(MOST, #rows) do some[#some + 1] = rows[1 + random(#rows)] end
      oldest = oldest % TREES + 1
      trees[oldest] = split(some, 1, #some)
      for _, c in ipairs(candidates) do c[oldest] = guess(c.x, oldest) end
    end
  end

  -- Each value from one of two of the best, and one from anywhere.
  local function mixture()
    local v, places = points.of(best[1 + random(math.min(ELITES, #best))].index)
    local w, others = points.of(best[1 + random(math.min(ELITES, #best))].index)
    for i = 1, v == w and #places or 0 do
      if random(2) == 1 then places[i] = others[i] end
    end
    return lib.walk(space, points.near(v, places), 1)
  end

  -- Adds a configuration with each tree's guess.
  local function add(list, there, index)
    if index and not memory.given[index] and not there[index] then
      there[index] = true
      local c = { index = index, x = features(index) }
      for t = 1, TREES do c[t] = guess(c.x, t) end
      list[#list + 1] = c
    end
  end

  local function randoms(list, there, n)
    for _ = 1, n do add(list, there, memory:untried()) end
    return list
  end

  -- What there is to choose from.
  local function plan()
    local there = {}
    candidates, picked = {}, 0
    for e = 1, math.min(ELITES, #best) do
      local elite = best[e]
      elite.near = elite.near or space:neighbours(elite.index)
      for _, index in ipairs(elite.near) do add(candidates, there, index) end
      for i = 1, #elite.near > 0 and STEPS or 0 do
        add(candidates, there, lib.walk(space, elite.near[1 + random(#elite.near)], 1 + i % 2))
      end
    end
    for _ = 1, #best > 0 and MIXED or 0 do add(candidates, there, mixture()) end
    randoms(candidates, there, RANDOM)
  end

  -- What some of the trees like best.
  local function elect(list)
    local voters, least, choice = {}, math.huge, nil
    for i = 1, VOTERS do voters[i] = 1 + random(TREES) end
    for _, c in ipairs(list) do
      if not memory.given[c.index] then
        local sum = 0
        for k = 1, VOTERS do sum = sum + c[voters[k]] end
        if sum < least then least, choice = sum, c.index end
      end
    end
    return choice or memory:untried()
  end

  local function choose()
    if #rows < START or lib.chance() < BLIND then return memory:untried() end
    if due >= 1 then
      grow(due // 1)
      due = due % 1
    end
    if lib.chance() < STALE * (#rows - improved) / #rows then return elect(randoms({}, {}, WIDE)) end
    if picked > #rows // 40 then plan() end
    picked = picked + 1
    return elect(candidates)
  end

  local out, most = 0, 0 -- given and not told yet: what waits for a compiler was chosen without what others teach; most asked for

  local function ask(k)
    local list = {}
    most = math.max(most, k)
    while #list < k and memory.left > 0 and out < math.max(1, AHEAD * most) do
      list[#list + 1] = memory:give(choose())
      out = out + 1
    end
    return (#list > 0 or out > 0) and list or "done"
  end

  local function tell(list)
    for _, o in ipairs(list) do
      if memory.given[o.index] then out = math.max(0, out - 1) end
      if not memory.cost[o.index] then
        local row = { index = o.index, cost = o.cost or math.huge, x = features(o.index) }
        rows[#rows + 1] = row
        if row.cost < memory.best_cost then picked, improved = math.huge, #rows end
        due = math.min(TREES, due + TREES / (FRESH * #rows))
        local at = #best + 1
        while at > 1 and row.cost < best[at - 1].cost do at = at - 1 end
        if row.cost < math.huge then table.insert(best, at, row) end
        best[GOOD + 1] = nil
      end
      memory:hear { o }
    end
  end

  return { ask = ask, tell = tell }
end
