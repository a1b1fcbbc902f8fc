// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

/// Numbers of the zip format (PKWARE APPNOTE 6.3), shared by our reader and writer.
namespace symport::detail::zip {

inline constexpr std::uint32_t local_signature = 0x04034b50;
inline constexpr std::uint32_t central_signature = 0x02014b50;
inline constexpr std::uint32_t end_signature = 0x06054b50;
inline constexpr std::uint32_t end64_signature = 0x06064b50;
inline constexpr std::uint32_t locator64_signature = 0x07064b50;

inline constexpr std::uint64_t local_size = 30;
inline constexpr std::uint64_t central_size = 46;
inline constexpr std::uint64_t end_size = 22;
inline constexpr std::uint64_t end64_size = 56;
inline constexpr std::uint64_t locator64_size = 20;

inline constexpr std::uint16_t stored = 0;
inline constexpr std::uint16_t deflated = 8;

/// In place of a number that stands in a zip64 field.
inline constexpr std::uint32_t in_zip64 = 0xffffffff;
inline constexpr std::uint16_t zip64_extra = 0x0001;

}  // namespace symport::detail::zip
