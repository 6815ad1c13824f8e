-- A random sample without replacement: the first steps of a Fisher-Yates shuffle of all indices. Only the indices that have moved
-- are stored, so memory grows with the number of answers, not with the space. docs/strategies.md is the guide.
return function(space)
  local left = space:count() -- places 0 .. left - 1 have not been drawn
  local moved = {}           -- place -> the index that is there now; a place that is not listed still has its own number

  local function draw()
    local place, last = random(left), left - 1
    local index = moved[place] or place
    moved[place] = moved[last] or last
    moved[last] = nil
    left = last
    return index
  end

  local function ask(k)
    local list = {}
    while #list < k and left > 0 do
      list[#list + 1] = draw()
    end
    return #list > 0 and list or "done"
  end

  return { ask = ask }
end
