# Appends to the file OUT: static const char NAME[] = "TEXT";
function(write_string name text)
    string(REPLACE "\\" "\\\\" text "${text}")
    string(REPLACE "\"" "\\\"" text "${text}")
    string(REPLACE "?" "\\?" text "${text}")
    string(REPLACE "\n" "\\n\"\n\"" text "${text}")
    file(APPEND ${OUT} "static const char ${name}[] =\n\"${text}\";\n")
endfunction()
