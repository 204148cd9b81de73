# Writes the page's files, compressed by gzip, into a C++ file that defines PageAssets().
#
#   cmake -DOUTPUT=file.cc "-DFILES=a.html;b.js" -P embed_assets.cmake

function(content_type file result)
  get_filename_component(extension ${file} LAST_EXT)
  set(type_.html "text/html; charset=utf-8")
  set(type_.css "text/css; charset=utf-8")
  set(type_.js "text/javascript; charset=utf-8")
  set(type_.svg "image/svg+xml")
  set(type_.txt "text/plain; charset=utf-8")
  if(NOT DEFINED type_${extension})
    message(FATAL_ERROR "${file}: of what type is it?")
  endif()
  set(${result} "${type_${extension}}" PARENT_SCOPE)
endfunction()

# -n: without a name and a time, so that the same files give the same bytes.
function(compress file result)
  execute_process(COMMAND gzip -9nc ${file} OUTPUT_FILE ${OUTPUT}.gz COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${OUTPUT}.gz hex HEX)
  file(REMOVE ${OUTPUT}.gz)
  set(${result} "${hex}" PARENT_SCOPE)
endfunction()

set(data "")
set(rows "")
set(number 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  content_type(${file} type)
  compress(${file} hex)
  file(SIZE ${file} size)
  string(SHA256 hash "${hex}")
  string(SUBSTRING ${hash} 0 20 tag)
  string(REGEX REPLACE "(..)" "\\\\x\\1" escaped "${hex}")
  string(APPEND data "constexpr char kFile${number}[] =\n    \"${escaped}\";\n")
  string(APPEND rows "    {\"${name}\", \"${type}\", \"\\\"${tag}\\\"\", {kFile${number}, sizeof(kFile${number}) - 1}, ${size}},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE ${OUTPUT} "// Written by server/web/page/embed_assets.cmake.
#include \"server/web/page/page_assets.h\"

namespace tally::server {
namespace {

${data}
constexpr PageAsset kAssets[] = {
${rows}};

}  // namespace

std::span<const PageAsset> PageAssets() { return kAssets; }

}  // namespace tally::server
")
