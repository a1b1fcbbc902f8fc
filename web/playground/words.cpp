// SPDX-License-Identifier: MIT
#include "words.hpp"

#include <algorithm>

#include "lab/text/errors.hpp"

namespace symport::playground {

lab::Arguments arguments_of(const std::vector<std::string>& words,
                            const std::vector<lab::Option>& options) {
  lab::Arguments arguments;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!word.starts_with("--")) {
      const auto place = std::find_if(options.begin(), options.end(),
                                      [](const lab::Option& option) { return option.positional; });
      if (place == options.end()) throw lab::UsageError(word, "is not expected here");
      arguments.add({place->name, word, place->name});
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string flag = word.substr(0, equals), name = flag.substr(2);
    const auto option = std::find_if(options.begin(), options.end(), [&](const lab::Option& one) {
      return !one.positional && one.is_called(name);
    });
    if (option == options.end()) throw lab::UsageError(flag, "there is no such option");
    std::string text = option->implied;
    if (option->value.empty()) text = "true";
    if (equals != std::string::npos) {
      text = word.substr(equals + 1);
    } else if (text.empty()) {
      if (++i == words.size()) throw lab::UsageError(flag, "needs a value");
      text = words[i];
    }
    arguments.add({option->name, text, flag});
  }
  return arguments;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t last = std::min(text.find('\n', first), text.size());
    lines.push_back(text.substr(first, last - first));
    first = last + 1;
  }
  return lines;
}

}  // namespace symport::playground
