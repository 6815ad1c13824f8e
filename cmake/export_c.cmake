# The sources that `cutune export --format c` writes into its files, as text in the program: generated/c_sources.h.
set(c_sources ${CMAKE_BINARY_DIR}/generated/c_sources.h)
file(GLOB exported RELATIVE ${PROJECT_SOURCE_DIR}/src CONFIGURE_DEPENDS src/base/*.[ch] src/expr/*.[ch] src/model/*.[ch]
     src/device/*.[ch] src/store/store.h src/runtime/*.[ch] src/export/embedded/*.[ch])
list(TRANSFORM exported PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE exported_paths)
list(JOIN exported "\n" exported_lines)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/c_sources.list CONTENT "@exported_lines@\n" @ONLY)
add_custom_command(
    OUTPUT ${c_sources}
    COMMAND ${CMAKE_COMMAND} -DOUT=${c_sources} -DSOURCE=${PROJECT_SOURCE_DIR} -DLIST=${CMAKE_BINARY_DIR}/generated/c_sources.list
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
    DEPENDS ${exported_paths} ${PROJECT_SOURCE_DIR}/include/cutune.h ${PROJECT_SOURCE_DIR}/cmake/embed_text.cmake
            ${CMAKE_BINARY_DIR}/generated/c_sources.list
    COMMENT "Taking up the library's sources"
    VERBATIM)
target_sources(tuner_parts PRIVATE ${c_sources})
