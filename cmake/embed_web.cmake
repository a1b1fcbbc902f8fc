# Makes a C++ file of the report's script and style sheet, with their SHA-256 for the page's
# Content-Security-Policy: cmake -DWEB=web -DMODULES=a.js,b.js -DOUT=web_assets.cpp -P embed_web.cmake
# The ES modules are put into one function in the order given, without their import lines and the
# word export; names at the top of a module are therefore unique among all of them.
string(REPLACE "," ";" MODULES "${MODULES}")
file(READ ${WEB}/vendor/uplot/uPlot.iife.min.js script)
string(APPEND script "\n(() => {\n\"use strict\";\n")
foreach(module IN LISTS MODULES)
  file(READ ${WEB}/${module} text)
  string(REGEX REPLACE "\nimport [^\n]*" "" text "${text}")
  string(REPLACE "\nexport " "\n" text "${text}")
  string(APPEND script "${text}")
endforeach()
string(APPEND script "})();\n")
file(READ ${WEB}/vendor/uplot/uPlot.min.css style)
foreach(sheet colors report)
  file(READ ${WEB}/${sheet}.css own_style)
  string(APPEND style "\n${own_style}")
endforeach()
foreach(name script style)
  string(FIND "${${name}}" "</" tag)
  string(FIND "${${name}}" ")symport_web" delimiter)
  if(NOT tag EQUAL -1 OR NOT delimiter EQUAL -1)
    message(FATAL_ERROR "The ${name} of the report has '</' in it, which would end its element")
  endif()
  string(SHA256 ${name}_hash "${${name}}")
endforeach()
if(NOT script MATCHES "uPlot \\(v([0-9.]+)\\)")
  message(FATAL_ERROR "web/vendor/uplot does not begin with its version")
endif()
set(uplot_version ${CMAKE_MATCH_1})
file(WRITE ${OUT} "// Made by embed_web.cmake.
#include \"lab/report/web_assets.hpp\"
namespace symport::lab::report {
const std::string_view web_script = R\"symport_web(${script})symport_web\";
const std::string_view web_style = R\"symport_web(${style})symport_web\";
const std::string_view web_script_sha256 = \"${script_hash}\";
const std::string_view web_style_sha256 = \"${style_hash}\";
const std::string_view uplot_version = \"${uplot_version}\";
}  // namespace symport::lab::report
")
