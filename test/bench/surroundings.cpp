#include "test/bench/surroundings.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "common/base/file.h"

namespace rota::bench {
namespace {

Result<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value != nullptr && *value != '\0') return std::string(value);
  return fail(ErrorCode::InvalidArgument, std::string(name) +
                                              " is not set; start with scripts/bench, or take "
                                              "`scripts/cluster env` into the shell");
}

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    if (comma > from) out.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return out;
}

}  // namespace

client::ClusterOptions Surroundings::client() const {
  client::ClusterOptions options;
  options.masters = masters;
  options.deadline = Millis{60'000};
  return options;
}

thrift::JobDefinition Surroundings::command(std::string name, std::vector<std::string> argv) const {
  thrift::JobDefinition definition;
  definition.__set_name(std::move(name));
  definition.work.__set_argv(std::move(argv));
  if (!job_user.empty()) definition.work.__set_run_as(job_user);
  return definition;
}

std::string Surroundings::job_user_shown() const {
  if (!job_user.empty()) return job_user;
  const passwd* const own = ::getpwuid(::geteuid());
  return own == nullptr ? std::to_string(::geteuid()) : own->pw_name;
}

Result<Surroundings> read_surroundings(const char* program) {
  std::vector<std::string> values;
  for (const char* name : {"ROTA_MASTERS", "ROTA_DATABASE_HOST", "ROTA_DATABASE_PORT",
                           "ROTA_DATABASE_PASSWORD_FILE", "ROTA_CLUSTER_DIR", "ROTA_ZOOKEEPER"}) {
    auto value = variable(name);
    if (!value) return fail(value.error());
    values.push_back(std::move(*value));
  }
  auto password = read_file(values[3], 4096);
  if (!password) return fail(password.error());
  Surroundings out;
  out.masters = split(values[0]);
  out.database.host = values[1];
  out.database.port = static_cast<std::uint16_t>(std::atoi(values[2].c_str()));
  out.database.password = *password;
  out.cluster_folder = values[4];
  out.zookeeper = values[5];
  out.program_folder = std::filesystem::absolute(program).parent_path().string();
  out.job_user = variable("ROTA_BENCH_USER").value_or("");
  out.job_program_folder = variable("ROTA_BENCH_USER_DIR").value_or(out.program_folder);
  return out;
}

}  // namespace rota::bench
