-- A random sample without replacement: the first steps of a shuffle (Fisher and Yates) of all indices, of which only those
-- that have moved are remembered. So memory grows with what was asked for, not with the space. What ask may answer: src/search/search.h.
return function(space)
  local left = space:count() -- places 0 .. left - 1 are still to be drawn
  local moved = {}           -- place -> the index that lies there now; elsewhere it is the place's own number

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
