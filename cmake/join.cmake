# Joins the library's sources into one text, which exported C files begin with (src/export/c.c), as two strings in C: its headers, and
# its C files. Everything becomes static but the calls of cutune.h. A static name that several files have gets the file's name in front.
# And writes it once more as it is, with no rows, for the build to find out whether it compiles.
# Usage: cmake -DOUT=HEADER -DCHECK=FILE -DSOURCE=PROJECT -DVERSION=VERSION -DLIST=FILE -P join.cmake, with the C files in LIST, one a line.
#
# It relies on how the sources are formatted: what begins in the first column, and nothing else, is a definition or a declaration.
cmake_minimum_required(VERSION 3.22)
file(STRINGS ${LIST} files)
set(system "")
set(done "")
set(headers "")
set(sources "")

# Without its own includes, whose headers are taken first; those of the C library are gathered.
function(take path)
    list(APPEND done ${path})
    file(READ ${SOURCE}/src/${path} text)
    set(text "\n${text}")
    string(REGEX MATCHALL "\n#include \"[^\"]+\"" own "${text}")
    string(REGEX MATCHALL "\n#include <[^>]+>" others "${text}")
    string(REGEX REPLACE "\n#include [^\n]+" "" text "${text}")
    string(REGEX REPLACE "\n__attribute__[^\n]*[)][)] " "\n" text "${text}") # the declarations may do without
    foreach(include IN LISTS own)
        string(REGEX REPLACE ".*\"(.*)\"" "\\1" header "${include}")
        if(NOT header IN_LIST done AND NOT header STREQUAL "cutune.h")
            take(${header})
            string(APPEND headers "${taken}")
        endif()
    endforeach()
    set(system ${system} ${others} PARENT_SCOPE)
    set(done ${done} PARENT_SCOPE)
    set(headers "${headers}" PARENT_SCOPE)
    set(taken "${text}" PARENT_SCOPE)
endfunction()

# The names that begin in the first column of a text: those of static functions and variables, or of all.
function(names_of text which out)
    string(REGEX REPLACE "[[;]" "(" text "${text}") # neither stands well in a list
    string(REGEX MATCHALL "\n${which}[^\n=(]*[ *][A-Za-z0-9_]+( =|[(])" found "${text}")
    list(TRANSFORM found REPLACE ".*[ *]([A-Za-z0-9_]+)( =|[(])$" "\\1")
    list(REMOVE_DUPLICATES found)
    set(${out} ${found} PARENT_SCOPE)
endfunction()

function(make_static text out)
    string(REGEX REPLACE "\nextern " "\nstatic " text "${text}")
    string(REGEX REPLACE "\n([a-z_][A-Za-z0-9_ *]*[ *][a-z0-9_]+[(])" "\nstatic \\1" text "${text}")
    string(REGEX REPLACE "\n((const )?(struct [a-z0-9_]+|[a-z0-9_]+) [*]?[a-z0-9_]+( =|[[]|;))" "\nstatic \\1" text "${text}")
    string(REPLACE "\nstatic static " "\nstatic " text "${text}")
    string(REPLACE "\nstatic typedef " "\ntypedef " text "${text}")
    string(REGEX REPLACE "\nstatic (struct [a-z0-9_]+;|[^\n(]*[ *]cutune_[a-z0-9_]+[(])" "\n\\1" text "${text}")
    set(${out} "${text}" PARENT_SCOPE)
endfunction()

set(all "")
foreach(file IN LISTS files)
    take(${file})
    set(text_${file} "${taken}")
    names_of("${taken}" "[a-z_]" names)
    list(APPEND all ${names})
endforeach()
foreach(name IN LISTS all)
    if(DEFINED seen_${name})
        set(twice_${name} ON)
    endif()
    set(seen_${name} ON)
endforeach()
foreach(file IN LISTS files)
    names_of("${text_${file}}" "static " names)
    string(REGEX REPLACE "(.*)/(.*)[.]c" "\\1_\\2" prefix ${file})
    string(REPLACE "/" "_" prefix ${prefix})
    set(begin "")
    set(end "")
    foreach(name IN LISTS names)
        if(twice_${name})
            string(APPEND begin "\n#define ${name} ${prefix}_${name}")
            string(APPEND end "#undef ${name}\n")
        endif()
    endforeach()
    make_static("${text_${file}}" text)
    string(APPEND sources "\n/* ---- src/${file} */${begin}${text}${end}")
endforeach()

# A static function that is declared and not defined would be a warning.
names_of("${headers}" "[a-z_]" declared)
foreach(name IN LISTS declared)
    if(NOT seen_${name})
        string(REGEX REPLACE "\n([a-z_][^\n(]*[ *]${name}[(])" "\n@\\1" headers "${headers}")
    endif()
endforeach()
make_static("${headers}" headers)
string(REPLACE "\n@" "\n" headers "${headers}")

list(REMOVE_DUPLICATES system)
list(JOIN system "" system)
file(READ ${SOURCE}/include/cutune.h public)
# gcc and clang know "a ?: b", a if that is not 0 and else b; C11 alone does not.
set(gnu "#pragma GCC diagnostic ignored \"-Wpedantic\"\n")
set(headers "${public}${gnu}${system}\n\n#define CUTUNE_VERSION \"${VERSION}\"\n${headers}")
set(none "enum { nembedded_ops = 0, nembedded_listed = 0 };
static const struct embedded_op embedded_ops[] = { { 0 } };
static const struct listed embedded_listed[] = { { 0 } };
")
file(WRITE ${CHECK} "${headers}\n${none}${sources}")
file(WRITE ${OUT} "/* Written by cmake/join.cmake. */\n")
include(${CMAKE_CURRENT_LIST_DIR}/write_string.cmake)
write_string(library_headers "${headers}")
write_string(library_sources "${sources}")
