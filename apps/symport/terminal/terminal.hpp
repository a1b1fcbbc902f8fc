// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace symport::cli {

/// Text as it may go to a terminal: control characters, which names and texts from files could hold
/// to move the cursor, set titles or worse, are shown as \u001b and so on, also those of C1 and
/// bytes that are no UTF-8. Line ends and tabs stay, and so do colours (ESC [ numbers m).
std::string harmless(std::string_view text);

/// Results. What is printed here or below is made `harmless`. A reader that has gone away (`|
/// head`) is no error: the rest is dropped. Any other failure throws OutputError.
void print(std::string_view text);
/// Errors and messages, as well as stderr takes them.
void print_error(std::string_view text);
/// Progress, of the program's own words and control sequences: the only text that stays as it is.
/// What stderr does not take at once (a pipe that nobody reads) is dropped, so that a stalled
/// reader cannot stop the run.
void print_progress(std::string_view text);

/// Whether control sequences make sense there: a terminal, and TERM is not "dumb".
bool stdout_is_terminal();
bool stderr_is_terminal();
/// Columns of the terminal on stderr; 80 when it does not say.
int stderr_width();

/// Colours for stdout, or the bare text where nobody wants them (no terminal, NO_COLOR is set).
class Style {
 public:
  explicit Style(bool colours) : colours_(colours) {}
  static Style for_stdout();

  bool colours() const { return colours_; }
  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string good(std::string_view text) const { return wrap("32", text); }
  std::string bad(std::string_view text) const { return wrap("31", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const;
  bool colours_;
};

/// To be called first: a closed reader or a limit on the size of files must not kill the program,
/// and files that it opens must not take the place of a closed stdin, stdout or stderr.
void prepare_standard_streams();

}  // namespace symport::cli
