# What `cmake --install` puts where, so that others find it: by find_package(tally) or pkg-config.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tally)
install(TARGETS tally_core tally_core_shared tally_tzdata tally_tzdata_shared EXPORT tally-targets)
install(EXPORT tally-targets NAMESPACE tally:: DESTINATION ${package_dir})

# core/FOLDER/NAME.h is installed as tally/FOLDER/NAME.h, and names other headers so: a program may
# have a folder named core of its own.
file(REMOVE_RECURSE ${CMAKE_CURRENT_BINARY_DIR}/include)
file(GLOB_RECURSE headers RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.h)
foreach(header ${headers})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(READ ${header} text)
  string(REPLACE "#include \"core/" "#include \"tally/" text "${text}")
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/include/tally/${header} "${text}")
endforeach()
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/include/tally
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(package/tally-config.cmake.in tally-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tally-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tally-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/tally-config-version.cmake
        DESTINATION ${package_dir})
# From the folder of the .pc files, so that the installed tree may be moved.
file(RELATIVE_PATH up_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(name tally tally-tzdata)
  configure_file(package/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
