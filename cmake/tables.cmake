# The shipped tables: the default configurations in db/tables, rendered from the op scripts and templates. Their kernels for
# CUDA are compiled to PTX if NVRTC is found. Packages are built with -DCUTUNE_PTX=yes, so that a build without NVRTC fails.
set(CUTUNE_PTX auto CACHE STRING "PTX in the tables that ship: auto (if NVRTC is found), yes (an error without it), no")
set_property(CACHE CUTUNE_PTX PROPERTY STRINGS auto yes no)
file(GLOB table_inputs CONFIGURE_DEPENDS tuner/ops/*.lua templates/* db/tables/*.txt)
add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/tables.db
    COMMAND ${CMAKE_COMMAND} -E rm -f ${CMAKE_BINARY_DIR}/tables.db
    COMMAND ${CMAKE_COMMAND} -E env CUTUNE_HOME=${PROJECT_SOURCE_DIR} ${leak_options}
            $<TARGET_FILE:cutune> tables --ptx ${CUTUNE_PTX} ${CMAKE_BINARY_DIR}/tables.db
    DEPENDS cutune ${table_inputs}
    VERBATIM)
add_custom_target(tables ALL DEPENDS ${CMAKE_BINARY_DIR}/tables.db)
install(FILES ${CMAKE_BINARY_DIR}/tables.db DESTINATION ${CMAKE_INSTALL_DATADIR}/cutune)
