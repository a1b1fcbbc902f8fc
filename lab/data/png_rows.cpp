// SPDX-License-Identifier: MIT
#include "lab/data/png_rows.hpp"

#include <png.h>

#include <csetjmp>
#include <cstring>
#include <new>

#include "data/input.hpp"
#include "symport/core/invalid_argument.hpp"

namespace symport::lab {

namespace {

/// libpng behind an interface that reports errors as values: its own way, a jump, skips
/// destructors, so no object that has one lives between `guarded` and libpng.
class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : rest_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, &info_, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// False when libpng gave up; then `message` says why.
  template <class Action>
  bool guarded(Action action) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    action(png_, info_);
    return true;
  }

  bool start() {
    return guarded([this](png_structp png, png_infop info) {
      constexpr png_uint_32 widest = 1'000'000;
      constexpr png_alloc_size_t largest_chunk = 1 << 16;
      png_set_user_limits(png, widest, PNG_UINT_31_MAX);
      png_set_chunk_malloc_max(png, largest_chunk);
      png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
      png_set_benign_errors(png, 0);
      png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_set_read_fn(png, this, on_read);
      png_read_info(png, info);
    });
  }

  const char* message() const { return message_; }
  std::size_t left() const { return rest_.size(); }
  png_structp png() const { return png_; }
  png_infop info() const { return info_; }

 private:
  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(reader->message_, message, sizeof reader->message_ - 1);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
  static void on_read(png_structp png, png_bytep into, png_size_t count) {
    auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > reader->rest_.size()) png_error(png, "the data stops early");
    std::memcpy(into, reader->rest_.data(), count);
    reader->rest_.remove_prefix(count);
  }

  std::string_view rest_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  char message_[120] = {};
};

}  // namespace

Array parse_png_rows(std::string_view bytes, const std::string& name) {
  PngReader reader(bytes);
  const auto damaged = [&] {
    throw InvalidArgument(name, "no intact PNG (" + std::string(reader.message()) + ")",
                          "a PNG file whose rows are images");
  };
  if (!reader.start()) damaged();
  const int colour = png_get_color_type(reader.png(), reader.info());
  const int depth = png_get_bit_depth(reader.png(), reader.info());
  const int interlace = png_get_interlace_type(reader.png(), reader.info());
  if ((colour != PNG_COLOR_TYPE_GRAY && colour != PNG_COLOR_TYPE_RGB) || depth != 8 ||
      interlace != PNG_INTERLACE_NONE) {
    throw InvalidArgument(name,
                          "a PNG of colour type " + std::to_string(colour) + ", " +
                              std::to_string(depth) + " bits" +
                              (interlace == PNG_INTERLACE_NONE ? "" : ", interlaced"),
                          "grey (0) or RGB (2), 8 bits, not interlaced");
  }
  const Index rows = png_get_image_height(reader.png(), reader.info());
  const Index width = png_get_image_width(reader.png(), reader.info());
  const Index channels = colour == PNG_COLOR_TYPE_RGB ? 3 : 1;
  const auto length = static_cast<std::size_t>(width * channels);
  std::vector<std::uint8_t> values;
  for (Index row = 0; row < rows; ++row) {
    values.resize(values.size() + length);
    std::uint8_t* into = values.data() + values.size() - length;
    if (!reader.guarded([into](png_structp png, png_infop) { png_read_row(png, into, nullptr); })) {
      damaged();
    }
  }
  if (!reader.guarded([](png_structp png, png_infop) { png_read_end(png, nullptr); })) damaged();
  if (reader.left() != 0) {
    throw InvalidArgument(name, std::to_string(reader.left()) + " bytes after the PNG",
                          "nothing there");
  }
  return {{rows, width, channels}, std::move(values), Order::c};
}

Array read_png_rows(const std::filesystem::path& path) {
  return parse_png_rows(detail::read_file(path), path.string());
}

}  // namespace symport::lab
