# What `cmake --install` puts where, so that others find it: by find_package(tally) or pkg-config.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tally)
install(TARGETS tally_core tally_core_shared tally_tzdata tally_tzdata_shared EXPORT tally-targets)
install(EXPORT tally-targets NAMESPACE tally:: DESTINATION ${package_dir})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tally
        FILES_MATCHING PATTERN "*.h" PATTERN package EXCLUDE)

configure_package_config_file(package/tally-config.cmake.in tally-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tally-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tally-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tally-config-version.cmake
        DESTINATION ${package_dir})
foreach(name tally tally-tzdata)
  configure_file(package/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
