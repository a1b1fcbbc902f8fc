// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>

/// What libc++ 14 does not have of the standard library. Included before everything else.
namespace std {

#ifndef __cpp_lib_bit_cast
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}
#endif

/// It reads whole numbers only. This is for doubles: as strtod, but in the C locale's form, without
/// leading spaces, plus sign or hexadecimal digits.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const char* digits = first != last && *first == '-' ? first + 1 : first;
  const auto is_digit = [&](const char* p) { return p != last && *p >= '0' && *p <= '9'; };
  const bool number =
      is_digit(digits) || (digits != last && *digits == '.' && is_digit(digits + 1));
  const bool word = digits != last && (*digits == 'i' || *digits == 'I' || *digits == 'n' ||
                                       *digits == 'N');  // inf, nan
  if (!number && !word) return {first, errc::invalid_argument};
  const bool hexadecimal = digits + 1 < last && *digits == '0' && (digits[1] | 0x20) == 'x';
  const string text(first, hexadecimal ? digits + 1 : last);
  char* end = nullptr;
  errno = 0;
  const double read = strtod(text.c_str(), &end);
  if (end == text.c_str()) return {first, errc::invalid_argument};
  const char* stop = first + (end - text.c_str());
  if (errno == ERANGE) return {stop, errc::result_out_of_range};
  value = read;
  return {stop, errc{}};
}

}  // namespace std
