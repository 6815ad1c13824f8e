# Manual pages, which the program writes from the tables of its options; and completions, which ask the program.
set(manual ${CMAKE_BINARY_DIR}/man)
add_custom_command(
    OUTPUT ${manual}/cutune.1
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${manual}
    COMMAND $<TARGET_FILE:cutune> manual ${manual}
    DEPENDS cutune
    COMMENT "Writing the manual pages"
    VERBATIM)
add_custom_target(manual ALL DEPENDS ${manual}/cutune.1)
install(DIRECTORY ${manual}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES completions/cutune.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME cutune)
install(FILES completions/_cutune DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES completions/cutune.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
