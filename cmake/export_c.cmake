# The library's sources joined into one text, for `cutune export --format c` to write into its files: generated/library_c.h.
set(library_c ${CMAKE_BINARY_DIR}/generated/library_c.h)
file(GLOB joined RELATIVE ${PROJECT_SOURCE_DIR}/src CONFIGURE_DEPENDS src/base/*.c src/expr/*.c src/model/*.c src/device/*.c
     src/runtime/*.c src/export/embedded/*.c)
# What src/export/embedded has another form of, and what only tuning needs.
list(REMOVE_ITEM joined base/hash.c base/process.c model/fingerprint.c runtime/place.c)
list(REMOVE_ITEM joined device/device.c device/nvrtc.c)
list(FILTER joined EXCLUDE REGEX "^device/(null.*|.*_measure)[.]c$")
list(JOIN joined "\n" joined_lines)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/library_c.list CONTENT "@joined_lines@\n" @ONLY)
file(GLOB joined_from CONFIGURE_DEPENDS src/base/*.[ch] src/expr/*.[ch] src/model/*.[ch] src/device/*.[ch] src/store/store.h
     src/runtime/*.[ch] src/export/embedded/*.[ch])
add_custom_command(
    OUTPUT ${library_c}
    COMMAND ${CMAKE_COMMAND} -DOUT=${library_c} -DSOURCE=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION}
            -DLIST=${CMAKE_BINARY_DIR}/generated/library_c.list -P ${PROJECT_SOURCE_DIR}/cmake/join.cmake
    DEPENDS ${joined_from} ${PROJECT_SOURCE_DIR}/include/cutune.h ${PROJECT_SOURCE_DIR}/cmake/join.cmake
            ${CMAKE_BINARY_DIR}/generated/library_c.list
    COMMENT "Joining the library's sources"
    VERBATIM)
target_sources(tuner_parts PRIVATE ${library_c})
