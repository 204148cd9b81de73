# What the page is made of: our files, and the chart library as Debian has it.

find_path(DYGRAPHS_DIR dygraph.min.js PATHS /usr/share/javascript/dygraphs NO_DEFAULT_PATH REQUIRED)

file(GLOB page_files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/assets/*)
list(APPEND page_files ${DYGRAPHS_DIR}/dygraph.min.js ${DYGRAPHS_DIR}/dygraph.min.css)
set(page_assets ${PROJECT_BINARY_DIR}/generated/page_assets.cc)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)

add_custom_command(
  OUTPUT ${page_assets}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${page_assets} "-DFILES=${page_files}"
          -P ${CMAKE_CURRENT_LIST_DIR}/embed_assets.cmake
  DEPENDS ${page_files} ${CMAKE_CURRENT_LIST_DIR}/embed_assets.cmake
  COMMENT "Compressing the page"
  VERBATIM)
