# The tables that ship: every op's default configurations, made from the op scripts, the templates and the PTX in db/tables.
file(GLOB table_inputs CONFIGURE_DEPENDS tuner/ops/*.lua templates/* db/tables/ptx/*.ptx)
add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/tables.db
    COMMAND ${CMAKE_COMMAND} -E rm -f ${CMAKE_BINARY_DIR}/tables.db
    COMMAND ${CMAKE_COMMAND} -E env CUTUNE_HOME=${PROJECT_SOURCE_DIR} $<TARGET_FILE:cutune> tables ${CMAKE_BINARY_DIR}/tables.db
    DEPENDS cutune ${table_inputs}
    VERBATIM)
add_custom_target(tables ALL DEPENDS ${CMAKE_BINARY_DIR}/tables.db)
install(FILES ${CMAKE_BINARY_DIR}/tables.db DESTINATION ${CMAKE_INSTALL_DATADIR}/cutune)
