// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "bindings.hpp"
#include "lab/options/option.hpp"
#include "lab/text/errors.hpp"
#include "lab/text/suggestion.hpp"
#include "symport/core/version.hpp"
#include "symport/data/atomic_file.hpp"

namespace symport::python {

std::string keyword_of(std::string option) {
  std::replace(option.begin(), option.end(), '-', '_');
  return option;
}

lab::Arguments to_arguments(const Texts& texts, const std::vector<lab::Option>& known) {
  std::vector<std::string> names;
  for (const lab::Option& option : known) names.push_back(keyword_of(option.name));
  lab::Arguments arguments;
  for (const auto& [name, text] : texts) {
    const std::string origin = keyword_of(name);
    if (std::find(names.begin(), names.end(), origin) == names.end()) {
      throw lab::UsageError(origin,
                            fmt::format("no such option{}", lab::did_you_mean(origin, names)));
    }
    arguments.add({name, text, origin});
  }
  return arguments;
}

void SignalCheck::operator()() {
  const double now =
      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  if (now < next_) return;
  next_ = now + 0.05;
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void warn(const std::string& text) {
  const nb::gil_scoped_acquire held;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) throw nb::python_error();
}

}  // namespace symport::python

NB_MODULE(_core, m) {
  using namespace symport;
  m.doc() = "Symport's library on NumPy arrays; use it through `symport`.";
  m.attr("__version__") = std::string(version()).c_str();
  // InvalidArgument is a std::invalid_argument, which becomes a ValueError by itself.
  nanobind::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const lab::UsageError& e) {
      PyErr_SetString(PyExc_ValueError, e.what());
    } catch (const WriteError& e) {
      PyErr_SetString(PyExc_OSError, e.what());
    } catch (const lab::OutputError& e) {
      PyErr_SetString(PyExc_OSError, e.what());
    }
  });
  python::bind_runs(m);
  python::bind_functions(m);
  python::bind_networks(m);
  python::bind_gauges(m);
}
