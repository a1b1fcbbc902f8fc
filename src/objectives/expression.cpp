// SPDX-License-Identifier: MIT
#include "symport/objectives/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numbers>

#include "symport/core/invalid_argument.hpp"

namespace symport {

/// Recursive descent:
///
///   sum      = product (("+" | "-") product)*
///   product  = factor (("*" | "/") factor)*
///   factor   = "-" factor | "+" factor | power
///   power    = primary ["^" factor]
///   primary  = number | "pi" | "e" | variable | function "(" sum ")" | "(" sum ")"
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text) {}

  Expression parse() {
    if (text_.size() > Expression::longest) {
      throw InvalidArgument("formula", fmt::format("{} characters, allowed are at most {}",
                                                   text_.size(), Expression::longest));
    }
    sum();
    if (peek() != '\0') refuse("an operator (products are written *), or the end");
    if (result_.dimension_ == 0) refuse("a variable somewhere: x1, x2, ...");
    result_.text_ = text_;
    return std::move(result_);
  }

 private:
  using Operation = Expression::Operation;
  using Node = Expression::Node;

  struct Function {
    std::string_view name;
    Operation operation;
  };
  static constexpr std::array functions{
      Function{"sqrt", Operation::sqrt},   Function{"exp", Operation::exp},
      Function{"log", Operation::log},     Function{"sin", Operation::sin},
      Function{"cos", Operation::cos},     Function{"tanh", Operation::tanh},
      Function{"asinh", Operation::asinh}, Function{"abs", Operation::abs}};

  /// Counts how deep the calls are nested.
  class Level {
   public:
    explicit Level(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.depth_ > Expression::deepest) {
        parser_.refuse(
            fmt::format("at most {} levels of parentheses and signs", Expression::deepest));
      }
    }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    ExpressionParser& parser_;
  };

  [[noreturn]] void refuse(const std::string& expected) const {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    std::string found = "the end";
    if (!rest.empty()) {
      const bool printable = rest[0] > ' ' && rest[0] <= '~';
      found = printable
                  ? fmt::format("'{}'", rest.substr(0, std::max<std::size_t>(1, word_length(rest))))
                  : std::string("an unprintable character");
    }
    throw InvalidArgument(
        "formula", fmt::format("column {}: found {}, expected {}", at_ + 1, found, expected));
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  /// Of the letters and digits that it begins with; what nobody would read is left out.
  static std::size_t word_length(std::string_view text) {
    constexpr std::size_t longest_word = 20;
    std::size_t length = 0;
    while (length < std::min(text.size(), longest_word) &&
           (is_letter(text[length]) || is_digit(text[length]))) {
      ++length;
    }
    return length;
  }

  /// The next character that is no space; '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() && text_[at_] != '\0' ? text_[at_] : unreadable_or_end();
  }
  char unreadable_or_end() const {
    if (at_ < text_.size()) refuse("text");
    return '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void add(Operation operation) { result_.nodes_.push_back({operation}); }

  void sum() {
    const Level level(*this);
    product();
    for (;;) {
      if (accept('+')) {
        product();
        add(Operation::plus);
      } else if (accept('-')) {
        product();
        add(Operation::minus);
      } else {
        return;
      }
    }
  }

  void product() {
    factor();
    for (;;) {
      if (accept('*')) {
        if (peek() == '*') refuse("a factor (powers are written ^)");
        factor();
        add(Operation::times);
      } else if (accept('/')) {
        factor();
        add(Operation::divide);
      } else {
        return;
      }
    }
  }

  void factor() {
    const Level level(*this);
    if (accept('-')) {
      factor();
      add(Operation::negate);
    } else if (accept('+')) {
      factor();
    } else {
      power();
    }
  }

  void power() {
    primary();
    if (!accept('^')) return;
    const std::size_t begin = result_.nodes_.size();
    factor();
    const auto first = result_.nodes_.begin() + static_cast<std::ptrdiff_t>(begin);
    const bool varies = std::any_of(first, result_.nodes_.end(), [](const Node& node) {
      return node.operation == Operation::variable;
    });
    if (varies) {
      add(Operation::power);
      return;
    }
    const std::vector<Node> exponent(first, result_.nodes_.end());
    result_.nodes_.erase(first, result_.nodes_.end());
    result_.nodes_.push_back(
        {Operation::fixed_power, Expression::evaluate<double>(exponent, Vector())});
  }

  void primary() {
    const char c = peek();
    if (is_digit(c) || c == '.') return number();
    if (is_letter(c)) return word();
    if (!accept('(')) refuse("a number, a variable such as x1, a function or '('");
    sum();
    if (!accept(')')) refuse("')'");
  }

  void number() {
    double value = 0.0;
    const char* first = text_.data() + at_;
    const auto [last, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) refuse("a finite number");
    at_ += static_cast<std::size_t>(last - first);
    result_.nodes_.push_back({Operation::number, value});
  }

  void word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "pi" || name == "e") {
      const double value = name == "e" ? std::numbers::e : std::numbers::pi;
      result_.nodes_.push_back({Operation::number, value});
      return;
    }
    if (name[0] == 'x' && name.size() > 1 && is_digit(name[1])) {
      Index number = 0;
      const auto [last, error] =
          std::from_chars(name.data() + 1, name.data() + name.size(), number);
      if (error != std::errc() || last != name.data() + name.size() || number < 1 ||
          number > Expression::most_variables) {
        at_ = begin;
        refuse(fmt::format("a variable from x1 to x{} (products are written *)",
                           Expression::most_variables));
      }
      result_.nodes_.push_back({Operation::variable, 0.0, number - 1});
      result_.dimension_ = std::max(result_.dimension_, number);
      return;
    }
    for (const Function& function : functions) {
      if (function.name != name) continue;
      if (!accept('(')) refuse(fmt::format("'(' after {}", name));
      sum();
      if (!accept(')')) refuse("')'");
      add(function.operation);
      return;
    }
    std::string names;
    for (const Function& function : functions) names += fmt::format(", {}", function.name);
    at_ = begin;
    refuse("x1, x2, ..., pi, e or a function: " + names.substr(2));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Expression result_;
};

Expression Expression::parse(std::string_view text) { return ExpressionParser(text).parse(); }

}  // namespace symport
