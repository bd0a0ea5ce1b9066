// `rota context`: named clusters in the person's own file. Asks no master.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/listing.h"
#include "common/base/file.h"
#include "common/base/unique_fd.h"
#include "common/base/utf8.h"

namespace rota::client {
namespace {

std::string environment_text(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// A link to a file elsewhere stays a link.
std::string real_path_of(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  std::string out = real == nullptr ? path : real;
  std::free(real);
  return out;
}

/// Two commands that change the file at once: one waits for the other.
Result<UniqueFd> lock_folder(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.is_open() && ::flock(fd.get(), LOCK_EX) == 0) return fd;
  return fail(ErrorCode::Unavailable, "cannot lock the folder " + folder);
}

using Change = std::function<Result<std::string>(ContextFile&)>;

/// Reads the file, changes it and writes it; prints what the change says was done.
int change_file(Desk& desk, const std::string& name, const Change& change) {
  const std::string path = context_file_path();
  if (path.empty()) {
    return complain(Error(ErrorCode::InvalidArgument, "no place for contexts: set HOME or XDG_CONFIG_HOME"));
  }
  if (auto made = make_folders(folder_of(path), 0700); !made) return complain(made.error());
  const auto lock = lock_folder(folder_of(path));
  if (!lock) return complain(lock.error());
  auto file = stored_contexts();
  if (!file) return complain(file.error());
  const auto what = change(*file);
  if (!what) return complain(what.error());
  const auto written = write_file_synced(real_path_of(path), context_file_text(*file), 0600);
  if (!written) return complain(written.error());
  if (desk.prints_data()) {
    print_data(desk.format, {{"name", name}, {"what", *what}, {"current", file->current}});
  } else {
    print_text(fmt::format("context {} {}\n", printable(name), *what));
  }
  return kOk;
}

std::string value_of(const Context& context, const std::string& setting) {
  const auto found = context.find(setting);
  return found == context.end() ? "" : found->second;
}

nlohmann::json context_json(const ContextFile& file, const std::string& name, const Context& context) {
  nlohmann::json out = {{"name", name}, {"is_current", name == file.current}};
  for (const ContextSetting& setting : context_settings()) {
    const std::string value = value_of(context, setting.name);
    out[setting.name] = value.empty() ? nlohmann::json(nullptr) : nlohmann::json(value);
  }
  return out;
}

/// What a command of this command line would use, and why.
int show_in_force(Desk& desk, const ContextArguments& arguments) {
  const auto target = target_of(arguments.options);
  if (!target) return complain(target.error());
  Listing list(desk, {"SETTING", "VALUE", "SAID BY"});
  const auto add = [&list](const std::string& name, const Said& said) {
    list.add([&] { return nlohmann::json{{"setting", name}, {"value", said.value}, {"said_by", said.by}}; },
             {name, said.value.empty() ? "-" : said.value, said.by});
  };
  add("context", target->context);
  for (const ContextSetting& setting : context_settings()) {
    add(setting.name, target->settings.at(setting.name));
  }
  return list.finish();
}

}  // namespace

std::string context_file_path() {
  return context_file_path(environment_text("XDG_CONFIG_HOME"), environment_text("HOME"));
}

Result<ContextFile> stored_contexts() {
  const std::string path = context_file_path();
  if (path.empty()) return ContextFile{};
  const auto text = read_file(path);
  if (!text && text.error().code == ErrorCode::NotFound) return ContextFile{};
  if (!text) return fail(ErrorCode::InvalidArgument, text.error().message);
  config::Problems problems;
  ContextFile file = read_context_file(path, *text, problems);
  if (problems.empty()) return file;
  std::string told = problems.text();
  while (!told.empty() && told.back() == '\n') told.pop_back();
  return fail(ErrorCode::InvalidArgument, told);
}

SaidSettings said_by_environment() {
  SaidSettings out = {{"context", environment_text("ROTA_CONTEXT")}};
  for (const ContextSetting& setting : context_settings()) {
    out[setting.name] = environment_text(setting.environment.c_str());
  }
  return out;
}

Result<Target> target_of(const SaidSettings& options) {
  const auto file = stored_contexts();
  if (!file) return fail(file.error());
  return choose_target(options, said_by_environment(), *file, context_file_path());
}

int context_list(Desk& desk, const std::string& prefix) {
  const auto file = stored_contexts();
  if (!file) return complain(file.error());
  Listing list(desk, {"CURRENT", "CONTEXT", "MASTERS", "ZOOKEEPER", "CLUSTER", "NAMESPACE"});
  for (const auto& [name, context] : file->contexts) {
    if (!name.starts_with(prefix)) continue;
    list.add([&file, &name = name, &context = context] { return context_json(*file, name, context); },
             {name == file->current ? "*" : "", name, value_of(context, "masters"),
              value_of(context, "zookeeper"), value_of(context, "cluster"), value_of(context, "namespace")});
  }
  return list.finish();
}

int context_show(Desk& desk, const ContextArguments& arguments) {
  if (arguments.name.empty()) return show_in_force(desk, arguments);
  const auto file = stored_contexts();
  if (!file) return complain(file.error());
  const auto context = context_named(*file, arguments.name, context_file_path());
  if (!context) return complain(context.error());
  if (desk.prints_data()) {
    print_data(desk.format, context_json(*file, arguments.name, *context));
    return kOk;
  }
  Table table({"CONTEXT", arguments.name});
  for (const auto& [setting, value] : *context) table.add({setting, value});
  print_text(table.text());
  return kOk;
}

int context_use(Desk& desk, const ContextArguments& arguments) {
  const int status = change_file(desk, arguments.name, [&](ContextFile& file) -> Result<std::string> {
    const auto context = context_named(file, arguments.name, context_file_path());
    if (!context) return fail(context.error());
    file.current = arguments.name;
    return std::string("is the current one");
  });
  const std::string other = environment_text("ROTA_CONTEXT");
  if (status == kOk && !other.empty() && other != arguments.name) {
    note(fmt::format("ROTA_CONTEXT is set: in this shell {} is used", printable(other)));
  }
  return status;
}

int context_set(Desk& desk, const ContextArguments& arguments) {
  if (const std::string problem = context_name_problem(arguments.name); !problem.empty()) {
    return complain(Error(ErrorCode::InvalidArgument, quoted_text(arguments.name) + " " + problem));
  }
  Context given;
  for (const ContextSetting& setting : context_settings()) {
    const auto found = arguments.options.find(setting.name);
    if (found == arguments.options.end()) continue;
    if (const std::string problem = setting.check(found->second); !problem.empty()) {
      return complain(Error(ErrorCode::InvalidArgument, fmt::format("{}: {} {}", setting.option,
                                                                    quoted_text(found->second), problem)));
    }
    given[setting.name] = found->second;
  }
  return change_file(desk, arguments.name, [&](ContextFile& file) -> Result<std::string> {
    const bool is_new = !file.contexts.contains(arguments.name);
    Context& context = file.contexts[arguments.name];
    const Context before = context;
    for (const auto& [name, value] : given) context[name] = value;
    for (const std::string& name : arguments.unset) context.erase(name);
    if (value_of(context, "masters").empty() && value_of(context, "zookeeper").empty()) {
      return fail(ErrorCode::InvalidArgument,
                  fmt::format("context {} would not say where its cluster is; give --masters or --zookeeper",
                              printable(arguments.name)));
    }
    if (is_new) return std::string("created");
    return std::string(context == before ? "unchanged" : "changed");
  });
}

int context_delete(Desk& desk, const ContextArguments& arguments) {
  const std::string question = fmt::format("Delete context {}?", printable(arguments.name));
  if (!arguments.yes && !confirmed(question)) {
    note("nothing was changed; answer y, or add --yes to do it without being asked");
    return kUsage;
  }
  return change_file(desk, arguments.name, [&](ContextFile& file) -> Result<std::string> {
    const auto context = context_named(file, arguments.name, context_file_path());
    if (!context) return fail(context.error());
    file.contexts.erase(arguments.name);
    if (file.current != arguments.name) return std::string("deleted");
    file.current.clear();
    return std::string("deleted; it was the current one, and there is none now");
  });
}

}  // namespace rota::client
