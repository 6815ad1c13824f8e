-- Every configuration, in the order of the space. The smallest strategy there is: ask(k) gives up to k indices, and "done" at the end.
-- docs/strategies.md says what else a strategy can do.
return function(space)
  local following, count = 0, space:count()

  local function ask(k)
    local list = {}
    while #list < k and following < count do
      list[#list + 1] = following
      following = following + 1
    end
    return #list > 0 and list or "done"
  end

  return { ask = ask }
end
