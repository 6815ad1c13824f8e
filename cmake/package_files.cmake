# What Debian wants of every package, and only packages have: run by CPack over the installed components, before it packs them.
foreach(doc IN LISTS CPACK_CUTUNE_DOCUMENTED)
    set(doc ${CPACK_TEMPORARY_DIRECTORY}/${doc})
    file(MAKE_DIRECTORY ${doc})
    configure_file(${CMAKE_CURRENT_LIST_DIR}/../packaging/deb/copyright ${doc}/copyright COPYONLY)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/../packaging/deb/changelog ${doc}/changelog COPYONLY)
endforeach()
set(zsh ${CPACK_TEMPORARY_DIRECTORY}/cutune/usr/share/zsh) # Debian's zsh looks for what packages bring in a folder of its own
file(RENAME ${zsh}/site-functions ${zsh}/vendor-completions)
file(GLOB_RECURSE zipped ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/*.[1-8])
execute_process(COMMAND gzip -9n ${zipped} COMMAND_ERROR_IS_FATAL ANY)
