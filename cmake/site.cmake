# The documentation as a site in BUILD/site/html: the pages in docs, and a reference that is made of the sources. Needs mkdocs.
find_program(PYTHON3 python3)
add_custom_target(
    site
    COMMAND ${PYTHON3} -B ${PROJECT_SOURCE_DIR}/docs/site/build ${manual} ${CMAKE_BINARY_DIR}/site
    DEPENDS manual
    COMMENT "Building the documentation in ${CMAKE_BINARY_DIR}/site/html"
    USES_TERMINAL VERBATIM)
