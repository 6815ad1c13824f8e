# The library's sources joined into one text, for `cutune export --format c` to write into its files: generated/library_c.h.
set(library_c ${CMAKE_BINARY_DIR}/generated/library_c.h)
set(library_check ${CMAKE_BINARY_DIR}/generated/library_check.c)
file(GLOB joined RELATIVE ${PROJECT_SOURCE_DIR}/src CONFIGURE_DEPENDS src/base/*.c src/expr/*.c src/model/*.c src/device/*.c
     src/store/tuned.c src/runtime/*.c src/export/embedded/*.c)
# What src/export/embedded has another form of, and what only tuning needs.
list(REMOVE_ITEM joined base/hash.c runtime/place.c runtime/host.c)
list(REMOVE_ITEM joined device/device.c device/nvrtc.c device/nvrtc_headers.c device/cuda_toolkit.c)
list(FILTER joined EXCLUDE REGEX "^device/(null.*|.*_measure)[.]c$")
list(JOIN joined "\n" joined_lines)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/library_c.list CONTENT "@joined_lines@\n" @ONLY)
file(GLOB joined_from CONFIGURE_DEPENDS src/base/*.[ch] src/expr/*.[ch] src/model/*.[ch] src/device/*.[ch] src/store/*.h src/store/tuned.c
     src/runtime/*.[ch] src/export/embedded/*.[ch])
add_custom_command(
    OUTPUT ${library_c} ${library_check}
    COMMAND ${CMAKE_COMMAND} -DOUT=${library_c} -DCHECK=${library_check} -DSOURCE=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
            -DLIST=${CMAKE_BINARY_DIR}/generated/library_c.list -P ${PROJECT_SOURCE_DIR}/cmake/join.cmake
    DEPENDS ${joined_from} ${PROJECT_SOURCE_DIR}/include/cutune.h ${PROJECT_SOURCE_DIR}/cmake/join.cmake ${PROJECT_SOURCE_DIR}/cmake/write_string.cmake
            ${CMAKE_BINARY_DIR}/generated/library_c.list
    COMMENT "Joining the library's sources"
    VERBATIM)
target_sources(tuner_parts PRIVATE ${library_c})

# Two names of the sources that do not go together in one text show here, and not only in an exported file.
if(CUTUNE_TESTS)
    add_library(library_check OBJECT ${library_check})
    add_dependencies(library_check tuner_parts) # which has made it
    target_compile_definitions(library_check PRIVATE _GNU_SOURCE)
    # Unoptimized: tests/library/export-c has an exported file optimized, with all warnings, and for such a text that takes 20 s.
    target_compile_options(library_check PRIVATE -O0 -Wall -Wextra -Wpedantic -Wno-unused-function -Wno-unused-parameter
                           -Wno-unused-variable -Wno-unused-const-variable $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
                           $<$<BOOL:${CUTUNE_WERROR}>:-Werror>)
endif()
