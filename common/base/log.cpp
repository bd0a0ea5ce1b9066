// The log's sinks on Boost.Log. The only file that includes it.
#include "common/base/log.h"

#include <algorithm>
#include <atomic>
#include <boost/core/null_deleter.hpp>
#include <boost/filesystem/operations.hpp>
#include <boost/log/attributes/attribute_value_impl.hpp>
#include <boost/log/core.hpp>
#include <boost/log/sinks/sync_frontend.hpp>
#include <boost/log/sinks/text_file_backend.hpp>
#include <boost/log/sinks/text_ostream_backend.hpp>
#include <boost/log/sources/record_ostream.hpp>
#include <boost/log/sources/severity_channel_logger.hpp>
#include <boost/log/utility/exception_handler.hpp>
#include <boost/log/utility/formatting_ostream.hpp>
#include <boost/make_shared.hpp>
#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <thread>

#include "common/base/log_format.h"
#include "common/base/log_limiter.h"
#include "common/base/log_one_of_many.h"

namespace rota {
namespace {

namespace logging = boost::log;
namespace sinks = boost::log::sinks;
namespace keywords = boost::log::keywords;

/// Retries a failed stream (stderr was a file on a full disk) with each line: Boost.Log would never use it
/// again. Called by one thread at a time.
struct ConsoleBackend : sinks::text_ostream_backend {
  void consume(const logging::record_view& view, const string_type& line) {
    std::clog.clear();
    sinks::text_ostream_backend::consume(view, line);
  }
};

using ConsoleSink = sinks::synchronous_sink<ConsoleBackend>;
using FileSink = sinks::synchronous_sink<sinks::text_file_backend>;
using Logger = logging::sources::severity_channel_logger_mt<Severity, std::string>;

constexpr const char* kRecordName = "RotaRecord";
constexpr Millis kFlushEvery{500};  ///< while lines are held back

/// The one global of the process: the sinks. Writing a line holds the lock shared, changing the sinks
/// holds it exclusively, so no line is lost or doubled while the sinks are replaced.
struct LogState {
  std::shared_mutex mutex;
  std::atomic<int> lowest{static_cast<int>(Severity::Info)};  ///< the lowest level of all channels
  bool started = false;
  LogOptions options;
  boost::shared_ptr<ConsoleSink> console;  // Boost.Log's own choice of pointer
  boost::shared_ptr<FileSink> file;
  std::mutex limiter_mutex;           ///< locked last
  std::condition_variable_any held_back;
  LogLimiter limiter;
  std::jthread flusher;  ///< writes held-back lines when they are due; started with the first one
};

LogState& state() {
  static auto* one = new LogState;  // never destroyed: threads may log while statics end
  return *one;
}

Severity level_of(const LogOptions& options, std::string_view channel) {
  const auto found = options.channels.find(std::string(channel));
  return found == options.channels.end() ? options.level : found->second;
}

int lowest_level(const LogOptions& options) {
  int lowest = static_cast<int>(options.level);
  for (const auto& [channel, level] : options.channels) {
    lowest = std::min(lowest, static_cast<int>(level));
  }
  return lowest;
}

template <typename Sink>
void write_as(const boost::shared_ptr<Sink>& sink, bool json) {
  sink->set_formatter([json](const logging::record_view& view, logging::formatting_ostream& out) {
    const auto record = logging::extract<LogRecord>(kRecordName, view);
    if (record) out << (json ? json_line(*record) : text_line(*record));
  });
  logging::core::get()->add_sink(sink);
}

boost::shared_ptr<ConsoleSink> open_console(bool json) {
  auto backend = boost::make_shared<ConsoleBackend>();
  backend->add_stream(boost::shared_ptr<std::ostream>(&std::clog, boost::null_deleter()));
  backend->auto_flush(true);
  auto sink = boost::make_shared<ConsoleSink>(backend);
  write_as(sink, json);
  return sink;
}

/// Throws the file system's exception when the folder or file cannot be created.
boost::shared_ptr<FileSink> open_file(const LogOptions& options) {
  namespace fs = boost::filesystem;
  const fs::path path = fs::absolute(options.file);
  fs::create_directories(path.parent_path());
  // The whole path: a bare name would mean the process's current folder, which may be on another disk or not
  // writable. Then nothing would be rotated, and every second line would be lost.
  const fs::path rotated = path.parent_path() / (path.filename().string() + ".%05N");
  auto backend = boost::make_shared<sinks::text_file_backend>(
      keywords::file_name = path, keywords::target_file_name = rotated,
      keywords::open_mode = std::ios::out | std::ios::app,
      keywords::rotation_size = options.rotate_bytes, keywords::enable_final_rotation = false,
      keywords::auto_flush = true);
  backend->set_file_collector(sinks::file::make_collector(
      keywords::target = path.parent_path(), keywords::max_files = options.keep_files));
  backend->scan_for_files();
  auto sink = boost::make_shared<FileSink>(backend);
  write_as(sink, options.json);
  return sink;
}

void close_sinks(LogState& log) {
  const auto core = logging::core::get();
  if (log.console) core->remove_sink(log.console);
  if (log.file) {
    core->remove_sink(log.file);
    log.file->flush();
  }
  log.console.reset();
  log.file.reset();
}

void open_sinks(LogState& log) {
  logging::core::get()->set_exception_handler(logging::make_exception_suppressor());
  if (log.options.console) log.console = open_console(log.options.json);
  if (log.options.file.empty()) return;
  try {
    log.file = open_file(log.options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rota: cannot log to %s: %s; logging to stderr\n",
                 log.options.file.c_str(), error.what());
    if (!log.console) log.console = open_console(log.options.json);
  }
}

std::vector<OwnedLogKey> owned(std::initializer_list<LogKey> keys) {
  std::vector<OwnedLogKey> out;
  out.reserve(keys.size());
  for (const auto& key : keys) out.push_back({std::string(key.name), key.value, key.is_number});
  return out;
}

void write_through_boost(const LogRecord& record) {
  static Logger* logger = new Logger;
  auto opened =
      logger->open_record((keywords::channel = record.channel, keywords::severity = record.level));
  if (!opened) return;
  opened.attribute_values().insert(kRecordName, logging::attributes::make_attribute_value(record));
  logging::record_ostream stream(opened);
  stream << record.sentence;
  stream.flush();
  logger->push_record(std::move(opened));
}

void write_due(LogState& log) {
  std::shared_lock sinks_lock(log.mutex);
  std::vector<LogRecord> due;
  {
    std::scoped_lock lock(log.limiter_mutex);
    due = log.limiter.due(BootClock::now());
  }
  for (const LogRecord& record : due) write_through_boost(record);
}

void flush_held_back(LogState& log, std::stop_token stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(log.limiter_mutex);
      log.held_back.wait(lock, stop, [&] { return log.limiter.holds_any(); });
      log.held_back.wait_for(lock, stop, kFlushEvery, [] { return false; });
    }
    write_due(log);
  }
}

bool is_admitted(LogState& log, const LogRecord& record) {
  std::scoped_lock lock(log.limiter_mutex);
  if (log.limiter.admits(record, BootClock::now())) return true;
  if (!log.flusher.joinable()) {
    log.flusher = std::jthread([&log](std::stop_token stop) { flush_held_back(log, stop); });
  }
  log.held_back.notify_all();
  return false;
}

/// Joins the thread, which may be writing, so it holds no lock.
void stop_flushing(LogState& log) {
  std::jthread over;
  {
    std::scoped_lock lock(log.limiter_mutex);
    over = std::move(log.flusher);
  }
}

}  // namespace

void log_start(const LogOptions& options) {
  auto& log = state();
  std::unique_lock lock(log.mutex);
  close_sinks(log);
  log.options = options;
  open_sinks(log);
  log.lowest = lowest_level(options);
  log.started = true;
}

void log_stop() {
  auto& log = state();
  stop_flushing(log);
  std::unique_lock lock(log.mutex);
  for (const LogRecord& record : log.limiter.rest()) write_through_boost(record);
  close_sinks(log);
  log.options = LogOptions{};
  log.lowest = static_cast<int>(Severity::Info);
  log.started = false;
}

bool log_enabled(std::string_view channel, Severity level) {
  auto& log = state();
  if (static_cast<int>(level) < log.lowest.load(std::memory_order_relaxed)) return false;
  std::shared_lock lock(log.mutex);
  return level >= level_of(log.options, channel);
}

namespace {

void write_line(LogRecord record) {
  auto& log = state();
  if (static_cast<int>(record.level) < log.lowest.load(std::memory_order_relaxed)) return;
  std::shared_lock lock(log.mutex);
  if (record.level < level_of(log.options, record.channel)) return;
  // Without a sink, Boost.Log would write to a default sink of its own.
  if (log.started && !log.console && !log.file) return;
  record.process = log.options.process;
  if (log.started) {
    if (is_admitted(log, record)) write_through_boost(record);
  } else {
    const std::string line = text_line(record) + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
}

}  // namespace

void log_line(std::string_view channel, Severity level, std::string_view sentence,
              std::initializer_list<LogKey> keys) {
  if (static_cast<int>(level) < state().lowest.load(std::memory_order_relaxed)) return;
  write_line({SystemClock().wall(), level, "", std::string(channel), std::string(sentence), owned(keys)});
}

void log_one_of_many(std::string_view channel, Severity level, std::string_view sentence,
                     std::vector<OwnedLogKey> keys) {
  write_line({SystemClock().wall(), level, "", std::string(channel), std::string(sentence),
              std::move(keys), true});
}

}  // namespace rota
