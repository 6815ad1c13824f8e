-- Every configuration, in the order of the space.
return function(space)
  local following, count = 0, space:count()

  local function ask(k)
    local list = {}
    while #list < k and following < count do
      list[#list + 1] = following
      following = following + 1
    end
    return list
  end

  return { ask = ask }
end
