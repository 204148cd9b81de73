# A program that needs nothing but glibc: every library is linked as an archive. Debian describes
# some of its libraries as shared ones, though the archive lies beside them.

set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(CMAKE_LIBRARY_PATH ${TALLY_PORTABLE})
set(OPENSSL_USE_STATIC_LIBS ON)
set(CMAKE_SKIP_RPATH ON)
# The map says what was linked in, for make_sbom.py.
add_link_options(-static-libstdc++ -static-libgcc -Wl,-Map=${CMAKE_BINARY_DIR}/link.map)

# The archive of a shared library; stops if there is none.
function(find_archive shared out)
  get_filename_component(name ${shared} NAME)
  string(REGEX REPLACE "\\.so.*$" ".a" name ${name})
  get_filename_component(folder ${shared} DIRECTORY)
  foreach(candidate ${TALLY_PORTABLE}/${name} ${folder}/${name})
    if(EXISTS ${candidate})
      set(${out} ${candidate} PARENT_SCOPE)
      return()
    endif()
  endforeach()
  message(FATAL_ERROR "There is no archive of ${shared}")
endfunction()

# After all packages were found: puts archives in the place of the shared libraries.
function(use_archives)
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target ${targets})
    get_target_property(shared ${target} IMPORTED_LOCATION_NONE)
    if(shared MATCHES "\\.so")
      find_archive(${shared} archive)
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_NONE ${archive})
    endif()
  endforeach()
endfunction()
