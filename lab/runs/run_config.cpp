// SPDX-License-Identifier: MIT
#include "lab/runs/run_config.hpp"

#include "lab/config/config_reader.hpp"
#include "lab/config/config_writer.hpp"
#include "symport/core/version.hpp"

namespace symport::lab {

namespace {

constexpr const char *optimize = "optimize", *train = "train";

std::string config_with(std::string_view command, std::vector<ConfigEntry> entries) {
  entries.insert(entries.begin(), {"command", std::string(command)});
  return config_text(fmt::format("{} {}. To repeat it:\n  symport {} --config config.toml",
                                 run_heading, version(), command),
                     entries);
}

}  // namespace

std::string_view command_of(const RunSpec& spec) {
  return std::holds_alternative<FunctionRunSpec>(spec) ? optimize : train;
}

const std::vector<Option>& run_options(std::string_view command) {
  static const std::vector<Option> functions = function_run_options().options(),
                                   networks = network_run_options().options();
  if (command == optimize) return functions;
  if (command == train) return networks;
  throw InvalidArgument("command", fmt::format("'{}'", command), "optimize, train");
}

RunSpec read_run_spec(std::string_view command, const Arguments& arguments) {
  if (command == optimize) return function_run_options().read(arguments);
  return network_run_options().read(arguments);
}

std::vector<ConfigEntry> entries_of(const RunSpec& spec) {
  if (const auto* function = std::get_if<FunctionRunSpec>(&spec)) {
    return function_run_options().write(*function);
  }
  return network_run_options().write(std::get<NetworkRunSpec>(spec));
}

std::string config_of(const FunctionRunSpec& spec, const std::string& formula) {
  std::vector<ConfigEntry> entries = function_run_options().write(spec);
  entries.front().comment = formula;  // of the function
  return config_with(optimize, std::move(entries));
}

std::string config_of(const NetworkRunSpec& spec) {
  return config_with(train, network_run_options().write(spec));
}

RunSpec parse_run_config(const std::string& text, const std::string& file) {
  const std::string command = command_of_config(text, file);
  const std::vector<Option>& options = with_origin(
      file + ": command", [&]() -> auto& { return run_options(command); });
  const Arguments arguments = parse_config(text, file, command, options);
  const std::string problem = command == optimize ? "function" : "data";
  for (const std::string& key :
       {problem, std::string("optimizer"), std::string("lr"), std::string("teleport")}) {
    if (!arguments.has(key)) throw UsageError(file, fmt::format("no key '{}'", key));
  }
  return read_run_spec(command, arguments);
}

std::string identity_of(const NetworkRunSpec& spec) {
  return config_text("", network_run_options().write(spec, {Role::identity}));
}

bool has_identity(const std::string& text, const std::string& identity) {
  if (text == identity) return true;
  try {
    const Arguments arguments = parse_config(text, "checkpoint", train, run_options(train));
    return identity_of(network_run_options().read(arguments)) == identity;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace symport::lab
