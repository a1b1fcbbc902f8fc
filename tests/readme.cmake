# The program in README.md is examples/smallest.cpp, which is compiled and run by a test.
file(READ ${SOURCE_DIR}/README.md readme)
file(READ ${SOURCE_DIR}/examples/smallest.cpp example)
string(REGEX REPLACE "^// SPDX[^\n]*\n//[^\n]*\n" "" program "${example}")
string(FIND "${readme}" "```cpp\n${program}```" position)
if(position EQUAL -1)
  message(FATAL_ERROR "The program in README.md is not examples/smallest.cpp")
endif()
