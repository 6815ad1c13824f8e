# The page of `cutune report`, with the library that draws its charts, as two strings in C: generated/report_page.h.
#
# libjs-vega has it as vega.min.js, in Debian 12 only in parts. Without it there is no report, and all else is built.
find_file(CUTUNE_VEGA NAMES vega.min.js vega-view.min.js PATHS /usr/share/javascript/vega /usr/local/share/javascript/vega
          DOC "Vega, for cutune report: vega.min.js with vega-interpreter.min.js beside it, or vega-view.min.js with all parts; OFF: none")
if(CUTUNE_VEGA)
    set(vega ${CUTUNE_VEGA})
    get_filename_component(vega_folder ${CUTUNE_VEGA} DIRECTORY)
    file(GLOB vega_parts ${vega_folder}/vega*.min.js)
else()
    message(STATUS "No Vega: cutune is built without `cutune report`. The package libjs-vega has it, or give -DCUTUNE_VEGA=FILE")
endif()
set(report_page ${CMAKE_BINARY_DIR}/generated/report_page.h)
file(GLOB report_parts CONFIGURE_DEPENDS report/*)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/report_vega.txt CONTENT "@vega@\n" @ONLY) # another one: the page is made again
add_custom_command(
    OUTPUT ${report_page}
    COMMAND ${CMAKE_COMMAND} -DOUT=${report_page} -DVEGA=${vega} -DPAGE=${PROJECT_SOURCE_DIR}/report
            -P ${PROJECT_SOURCE_DIR}/cmake/join_report.cmake
    DEPENDS ${report_parts} ${vega_parts} ${PROJECT_SOURCE_DIR}/cmake/join_report.cmake ${PROJECT_SOURCE_DIR}/cmake/write_string.cmake
            ${CMAKE_BINARY_DIR}/generated/report_vega.txt
    COMMENT "Joining the report's page"
    VERBATIM)
target_sources(tuner_parts PRIVATE ${report_page})
