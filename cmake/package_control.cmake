# What CPack's generator cannot say of one component: run by CPack over the packages, which are taken apart and made again.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
    set(tree ${package}.tree)
    file(REMOVE_RECURSE ${tree})
    execute_process(COMMAND dpkg-deb -R ${package} ${tree} COMMAND_ERROR_IS_FATAL ANY)
    if(package MATCHES "/libcutune")
        file(READ ${tree}/DEBIAN/control control)
        file(WRITE ${tree}/DEBIAN/control "Multi-Arch: same\n${control}")
    endif()
    if(EXISTS ${tree}/DEBIAN/shlibs) # ldconfig by a trigger, not by scripts
        file(REMOVE ${tree}/DEBIAN/postinst ${tree}/DEBIAN/postrm)
        file(WRITE ${tree}/DEBIAN/triggers "activate-noawait ldconfig\n")
    endif()
    execute_process(COMMAND dpkg-deb --root-owner-group -Z${CPACK_DEBIAN_COMPRESSION_TYPE} -b ${tree} ${package}
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${tree})
endforeach()
