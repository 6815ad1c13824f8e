-- What in a kernel's file is for the host, for `cutune new-op`: compilers of kernels do not take it. Returns a function of the text without
-- comments that gives a list of words, which is empty if there is none.

local headers = {} -- of those that cutune does not give to kernels
for name in ("algorithm array chrono fstream functional iomanip iostream map memory numeric random sstream string thread vector "
             .. "sys/time.h time.h unistd.h"):gmatch("%S+") do
    headers[name] = true
end

-- These may be called from kernels.
local for_kernels = { cudaGridDependencySynchronize = true, cudaTriggerProgrammaticLaunchCompletion = true }

-- Whether a condition leaves its text to the host, and whether it leaves what is in its #else.
local function leaves(directive, condition)
    local is, word = condition:match("^(!? ?defined ?%(? ?)(__CUDA[%u_]+)")
    word = word or condition:match("^__CUDA[%u_]+")
    local device = word == "__CUDACC_RTC__" or word == "__CUDA_ARCH__"
    local unless = directive == "ifndef" or is and is:find("^!")
    return condition == "0" or device and unless, device and not unless and (directive == "ifdef" or is)
end

-- The lines that kernels are compiled with.
local function compiled(text)
    local lines, open = {}, {} -- of each #if whether its text is left out, and whether that of its #else is
    for line in (text .. "\n"):gmatch("([^\n]*)\n") do
        local directive, condition = line:match("^ ?# ?(%l+) ?(.-) ?$")
        if directive == "if" or directive == "ifdef" or directive == "ifndef" then
            open[#open + 1] = { leaves(directive, condition) }
        elseif directive == "endif" then
            open[#open] = nil
        elseif directive == "else" or directive == "elif" then
            local last = open[#open] or {}
            last[1], last[2] = last[2], false
        else
            local left = false
            for _, part in ipairs(open) do
                left = left or part[1]
            end
            lines[#lines + 1] = not left and line or nil
        end
    end
    return table.concat(lines, "\n")
end

-- The first of each kind.
return function(text)
    local words = {}
    text = compiled(text)
    if text:find("%f[%w_]main ?%b()%s*{") then
        words[1] = "main()"
    end
    if text:find("<<<", 1, true) then
        words[#words + 1] = "<<<"
    end
    for name in text:gmatch("%f[%w_](cuda%u%w*) ?%(") do
        if not for_kernels[name] then
            words[#words + 1] = name .. "()"
            break
        end
    end
    for name in text:gmatch("# ?include ?<([^>\n]+)>") do
        if headers[name] then
            words[#words + 1] = "#include <" .. name .. ">"
            break
        end
    end
    return words
end
