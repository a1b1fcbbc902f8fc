# Debian packages by CPack, for scripts/package deb: `symport`, the program, and `libsymport-dev`, the static library with its
# headers. There is no shared library: the interface changes between minor versions, and with a static one a program goes on
# working as it was built.
set(SYMPORT_PACKAGE_MAINTAINER "The Symport authors <symport@example.org>" CACHE STRING "Whom a package names")
set(SYMPORT_PACKAGE_DATE "Thu, 01 Jan 1970 00:00:00 +0000" CACHE STRING "Date of the package's changelog, as of date -R")

# What Debian wants in every package: whose it is, and what changed, compressed.
set(debian ${PROJECT_BINARY_DIR}/debian)
configure_file(cmake/debian/changelog.in ${debian}/changelog.Debian @ONLY)
configure_file(CHANGELOG.md ${debian}/changelog COPYONLY)
foreach(file changelog changelog.Debian)
  execute_process(COMMAND gzip -9n --force --keep ${debian}/${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
foreach(component IN ITEMS program development)
  set(package symport)
  if(component STREQUAL "development")
    set(package libsymport-dev)
  endif()
  install(FILES cmake/debian/copyright ${debian}/changelog.gz ${debian}/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
endforeach()
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libsymport-dev/examples COMPONENT development
        FILES_MATCHING PATTERN "*.cpp" PATTERN "python" EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "${SYMPORT_PACKAGE_MAINTAINER}")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_SET_DESTDIR OFF)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
                                                GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME symport)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS npm)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "optimizers that jump along symmetries of the loss")
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
"Symmetry teleportation: now and then an optimizer jumps along a symmetry of
the loss to a point with the same loss, from which the next steps descend
faster. The program optimizes functions, trains networks, compares methods at
their best rates, reproduces the figures of the paper, and writes reports.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsymport-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libeigen3-dev (>= 3.4), libfmt-dev, libopenblas-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS cmake)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
"Headers, static library and CMake package of Symport: objectives, symmetries,
searches and optimizers for programs that minimise a function with a known
symmetry or train small networks.")
include(CPack)
