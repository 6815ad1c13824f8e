# Debian packages of what `cmake --install` installs: cmake --preset deb && cmake --build --preset deb
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL cutune library development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_files.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_control.cmake)
set(CUTUNE_MAINTAINER "The cutune authors <maintainers@cutune.example>" CACHE STRING "The maintainer named in Debian packages")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${CUTUNE_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# What is loaded at run time, if it is there. OpenCL on the processor itself is free and always works; CUDA is not in main.
set(opencl "ocl-icd-libopencl1 | libopencl1, pocl-opencl-icd | opencl-icd")
set(cuda "libcuda1, nvidia-cuda-toolkit")

set(CPACK_DEBIAN_CUTUNE_PACKAGE_NAME cutune)
set(CPACK_DEBIAN_CUTUNE_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_CUTUNE_PACKAGE_RECOMMENDS "${opencl}")
set(CPACK_DEBIAN_CUTUNE_PACKAGE_SUGGESTS "${cuda}, libcutune-dev")
set(CPACK_DEBIAN_CUTUNE_DESCRIPTION "autotuner for CUDA and OpenCL kernels
For an operation on a device and a problem, cutune finds the fastest of many
configurations of a kernel. It compiles them at run time, checks that each is
correct, times those that are, and stores the results in SQLite.

This package has the program, the operations that ship with it (transpose,
dot, gemm, softmax, ...) and the tables of their default configurations.
Without a GPU, kernels are tuned on the processor through PoCL.")

set(library libcutune${PROJECT_VERSION_MAJOR})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS cutune) # its tables: without them only what was tuned is known
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "ocl-icd-libopencl1 | libopencl1, ${cuda}")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "tuned CUDA and OpenCL kernels for applications - shared library
libcutune gives an application the fastest known kernel for each problem, from
the database that cutune filled, and launches it on the application's own CUDA
stream or OpenCL queue. On a device that was tuned it needs no compiler.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libcutune-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${library} (= ${PROJECT_VERSION}), libsqlite3-dev, zlib1g-dev") # which the static library is linked with
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS cutune)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "tuned CUDA and OpenCL kernels for applications - development files
libcutune gives an application the fastest known kernel for each problem, from
the database that cutune filled, and launches it on the application's own CUDA
stream or OpenCL queue. On a device that was tuned it needs no compiler.

This package has the headers, the static library, a CMake package and a
pkg-config file.")

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    list(APPEND CPACK_CUTUNE_DOCUMENTED ${component}/usr/share/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
endforeach()
include(CPack)
