-- What the parts of `cutune new-op` that read a kernel's text (read_kernel.lua, read_launch.lua) share: its words, types and macros.

-- What C calls an element: its type here, and how many of them (of a vector) lie side by side.
local elements = {
    ["float"] = "f32", ["double"] = "f64", ["half"] = "f16", ["__half"] = "f16", ["__nv_bfloat16"] = "bf16", ["nv_bfloat16"] = "bf16",
    ["__nv_fp8_e4m3"] = "f8e4m3", ["__nv_fp8_e5m2"] = "f8e5m2", ["bool"] = "u8",
    ["char"] = "i8", ["signed char"] = "i8", ["unsigned char"] = "u8", ["uchar"] = "u8",
    ["short"] = "i16", ["unsigned short"] = "u16", ["ushort"] = "u16",
    ["int"] = "i32", ["unsigned"] = "u32", ["unsigned int"] = "u32", ["uint"] = "u32",
    ["long long"] = "i64", ["long"] = "i64", ["unsigned long long"] = "u64", ["unsigned long"] = "u64", ["ulong"] = "u64",
    ["short int"] = "i16", ["unsigned short int"] = "u16", ["long int"] = "i64", ["unsigned long int"] = "u64",
    ["long long int"] = "i64", ["unsigned long long int"] = "u64",
    ["size_t"] = "u64", ["ptrdiff_t"] = "i64", ["cuFloatComplex"] = "c64", ["cuDoubleComplex"] = "c128",
}
for _, bits in ipairs { 8, 16, 32, 64 } do -- int8 is the dialect's
    for word, type in pairs { int = "i", uint = "u" } do
        elements[word .. bits], elements[word .. bits .. "_t"] = type .. bits, type .. bits
    end
end

local function element(c)
    local base, n = c:match("^([%a_][%w_]-)([234])$")
    if base and elements[base] then
        return elements[base], math.tointeger(n)
    end
    return elements[c], 1
end

-- The pattern of a word, for one that is not a part of another.
local function whole(word) return "%f[%w_]" .. word .. "%f[^%w_]" end
local function has_word(text, word) return text:find(whole(word)) ~= nil end

local skipped = { "^//[^\n]*", "^/%*.-%*/", '^"[^"\n]*"', "^'.'" }

-- Without comments and strings, and with single spaces; lines stay, as the directives need them.
local function plain(text)
    text = text:gsub("\\\n", " "):gsub("\\.", "_")
    local parts, at = {}, 1
    for begin in text:gmatch "()[/\"']" do
        local last
        for i = 1, begin >= at and #skipped or 0 do
            last = last or select(2, text:find(skipped[i], begin))
        end
        if last then
            parts[#parts + 1] = text:sub(at, begin - 1)
            at = last + 1
        end
    end
    parts[#parts + 1] = text:sub(at)
    return (table.concat(parts, " "):gsub("[ \t\r]+", " "))
end

-- What the text itself calls a type: typedef float real; using real = float; #define real float.
local function aliases(text)
    local names = {}
    for c, name in text:gmatch("%f[%w_]typedef ([%w_ ]-) ?([%a_][%w_]*) ?;") do
        names[name] = c
    end
    for name, c in text:gmatch("%f[%w_]using ([%a_][%w_]*) ?= ?([%w_ ]-) ?;") do
        names[name] = c
    end
    for name, c in ("\n" .. text):gmatch("\n ?# ?define ([%a_][%w_]*) ([%a_][%w_ ]-) ?%f[\n]") do
        names[name] = c
    end
    return names
end

-- Words of Lua and of expressions that a kernel's sizes may be called: expressions and shapes cannot name them.
local reserved = {}
for word in ("and elseif end function in local nil not or repeat then until true false when device variant ceildiv min max abs floor "
             .. "log2 ispow2 alignup"):gmatch("%w+") do
    reserved[word] = true
end
for _, type in pairs(elements) do
    reserved[type] = true
end

local function trimmed(s) return s:match("^%s*(.-)%s*$") end

-- The parts of a list between its commas, those within brackets left alone.
local function split(list)
    local parts, depth, from = {}, 0, 1
    for at, sign in list:gmatch("()([(<%[,%]>)])") do
        if sign == "," and depth == 0 then
            parts[#parts + 1] = trimmed(list:sub(from, at - 1))
            from = at + 1
        elseif sign ~= "," then
            depth = depth + ((sign == "(" or sign == "<" or sign == "[") and 1 or -1)
        end
    end
    local last = trimmed(list:sub(from))
    if last ~= "" and last ~= "void" then
        parts[#parts + 1] = last
    end
    return parts
end

-- #ifndef TILE, #define TILE 32: a parameter that the kernel already has. So is what else stands there: once TILE is given, nothing else
-- defines it.
local function own_parameters(text)
    local list, seen = {}, {}
    for name, rest in ("\n" .. text):gmatch("\n ?# ?ifndef ([%a_][%w_]*) ?()\n") do
        local first = true
        for line in text:sub(rest):gmatch("([^\n]*)\n") do
            local defined, number = line:match("^ ?# ?define ([%a_][%w_]*) %(?(%d+)%)? ?$")
            if line:find("%S") and (not defined or first and defined ~= name) then
                break
            elseif defined and not seen[defined] then
                seen[defined] = true
                list[#list + 1] = { defined, math.tointeger(number) }
            end
            first = first and not defined
        end
    end
    return list, seen
end

-- The value of an expression of C over integers; nil if it is none. value_of(WORD): that of a name, or nil.
local function count(text, value_of)
    local at, whole_text = 1, nil
    local function token(pattern)
        local found, past = text:match("^%s*(" .. pattern .. ")()", at)
        at = past or at
        return found
    end
    local function operand()
        if token("%(") then
            local v = whole_text()
            return token("%)") and v
        end
        local number = token("0[xX]%x+") or token("%d+")
        if number then
            token("[uUlL]+")
            return not text:find("^[%w_.]", at) and math.tointeger(tonumber(number)) or nil
        end
        local word = token("[%a_][%w_]*")
        return word and value_of(word)
    end
    local operators = {
        ["*"] = function(a, b) return a * b end, ["+"] = function(a, b) return a + b end, ["-"] = function(a, b) return a - b end,
        ["/"] = function(a, b) return b > 0 and a // b or nil end, ["%"] = function(a, b) return b > 0 and a % b or nil end,
        ["<<"] = function(a, b) return a << b end, [">>"] = function(a, b) return a >> b end,
    }
    local function level(below, signs)
        return function()
            local v = below()
            while v do
                local sign = token(signs)
                if not sign then
                    return v
                end
                local other = below()
                v = other and operators[sign](v, other)
            end
        end
    end
    whole_text = level(level(level(operand, "[%*/%%]"), "[%+%-]"), "[<>][<>]")
    local v = whole_text()
    return v and not text:find("%S", at) and v or nil
end

-- #define TILE 32, #define AREA (TILE * TILE): what macros without arguments stand for. One that is defined twice is none. Likewise
-- const int TILE = 32; outside of all functions.
local function macros_of(text)
    local list = {}
    for declared in text:gsub("extern \"?_?\"? ?{", ""):gsub("%b{}", ";"):gmatch("%f[%w_]const[expr]* ([^;{}()]+);") do
        local type, name, value = declared:match("^([%w_ ]-) ?([%a_][%w_]*) ?= ?(.+)$")
        type = type and elements[trimmed((type:gsub(whole("static"), ""):gsub(whole("const"), "")))]
        if type and type:find("^[iu]") then
            list[name] = value
        end
    end
    for name, value in ("\n" .. text):gmatch("\n ?# ?define ([%a_][%w_]*) ([^\n]+)") do
        list[name] = list[name] == nil and value or false
    end
    return list
end

-- A function of a word: its number, by the macros, or by numbers that are given of some.
local function values_by(macros, numbers)
    local depth = 0
    local function value_of(word)
        local v = numbers[word]
        if v == nil and macros[word] and depth < 20 then
            depth = depth + 1
            v = count(macros[word], value_of)
            depth = depth - 1
        end
        return v or nil
    end
    return value_of
end

-- #define TILE 32 without an #ifndef: no parameter can change it.
local function constants_of(text, own)
    local macros, none, list = macros_of(text), {}, {}
    for name in pairs(own) do
        none[name] = false
    end
    local value_of = values_by(macros, none)
    for name in pairs(macros) do
        list[name] = value_of(name)
    end
    return list
end

return {
    elements = elements, element = element, whole = whole, has_word = has_word, plain = plain, aliases = aliases, reserved = reserved,
    trimmed = trimmed, split = split, own_parameters = own_parameters, constants_of = constants_of, macros_of = macros_of,
    values_by = values_by, count = count,
}
