# libcutune, shared and static, made of the same objects as the program; and what is installed for its users: headers, libraries, the
# CMake package and the pkg-config file.
include(CMakePackageConfigHelpers)

# Usage requirements and installation, for both libraries.
function(library target export_name)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME cutune EXPORT_NAME ${export_name})
    target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                               $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/generated> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    add_library(cutune::${export_name} ALIAS ${target})
    install(TARGETS ${target} EXPORT cutune-${export_name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            COMPONENT library NAMELINK_COMPONENT development ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
    install(EXPORT cutune-${export_name} NAMESPACE cutune:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cutune COMPONENT development)
endfunction()

# A distribution's static SQLite is usually not position-independent, so the preset `static` makes no shared library.
if(NOT CUTUNE_STATIC)
    add_library(cutune_shared SHARED $<TARGET_OBJECTS:runtime_objects>)
    set_target_properties(cutune_shared PROPERTIES LINKER_LANGUAGE C VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    if(SKBUILD) # a wheel has no links: one file
        set_target_properties(cutune_shared PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
    endif()
    target_link_libraries(cutune_shared PRIVATE $<BUILD_INTERFACE:dep_sqlite> $<BUILD_INTERFACE:dep_zlib> Threads::Threads m ${CMAKE_DL_LIBS})
    if(CUTUNE_SANITIZE)
        target_link_options(cutune_shared PRIVATE -fsanitize=${CUTUNE_SANITIZE})
    else()
        target_link_options(cutune_shared PRIVATE -Wl,--no-undefined)
    endif()
    library(cutune_shared cutune)
endif()

# Hidden symbols are hidden only from other shared objects. In an archive of many objects, a name such as buf_put could still clash with
# the application's own. So all objects are linked into one, and its hidden symbols are made local.
set(merged ${CMAKE_BINARY_DIR}/libcutune.o)
add_custom_command(
    OUTPUT ${merged}
    COMMAND ${CMAKE_LINKER} -r -o ${merged} $<TARGET_OBJECTS:runtime_objects>
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${merged}
    DEPENDS runtime_objects $<TARGET_OBJECTS:runtime_objects>
    COMMAND_EXPAND_LISTS VERBATIM)
add_library(cutune_static STATIC ${merged})
set_target_properties(cutune_static PROPERTIES LINKER_LANGUAGE C)
set_source_files_properties(${merged} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
target_link_libraries(cutune_static INTERFACE $<BUILD_INTERFACE:dep_sqlite> $<BUILD_INTERFACE:dep_zlib>
                      $<INSTALL_INTERFACE:SQLite::SQLite3> $<INSTALL_INTERFACE:ZLIB::ZLIB> Threads::Threads m ${CMAKE_DL_LIBS})
library(cutune_static static)

# The typed calls, from the op scripts.
set(ops_header ${CMAKE_BINARY_DIR}/generated/cutune_ops.h)
file(GLOB op_scripts CONFIGURE_DEPENDS tuner/ops/*.lua tuner/lib/*.lua)
add_custom_command(
    OUTPUT ${ops_header}
    COMMAND ${CMAKE_COMMAND} -E env CUTUNE_HOME=${PROJECT_SOURCE_DIR} $<TARGET_FILE:cutune> header -o ${ops_header}
    DEPENDS cutune ${op_scripts}
    COMMENT "Writing cutune_ops.h"
    VERBATIM)
add_custom_target(ops_header ALL DEPENDS ${ops_header})

# Both files find the prefix from their own place, so that `cmake --install --prefix` works with any prefix.
configure_package_config_file(cmake/cutune-config.cmake.in ${CMAKE_BINARY_DIR}/cutune-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cutune NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cutune-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH prefix_from_pc ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
configure_file(cmake/cutune.pc.in ${CMAKE_BINARY_DIR}/cutune.pc @ONLY)

install(FILES include/cutune.h include/cutune_reference.h ${ops_header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/cutune-config.cmake ${CMAKE_BINARY_DIR}/cutune-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cutune COMPONENT development)
install(FILES ${CMAKE_BINARY_DIR}/cutune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
