#include "master/notify/notifier.h"

#include <utility>

#include "common/base/log.h"
#include "master/notify/delivery_line.h"

namespace rota::master::notify {
namespace {

constexpr int kOwnTries = 5;

}  // namespace

/// One receiver and its thread.
class Notifier::Line : public DeliveryLine {
 public:
  explicit Line(Receiver receiver)
      : DeliveryLine(std::move(receiver.route), receiver.timeout), rule_(std::move(receiver.rule)) {}
  const model::ReceiverRule& rule() const { return rule_; }

 private:
  const model::ReceiverRule rule_;
};

Notifier::Notifier(std::vector<Receiver> receivers, Sender sender) : sender_(std::move(sender)) {
  for (Receiver& receiver : receivers) lines_.push_back(std::make_unique<Line>(std::move(receiver)));
}

Notifier::~Notifier() { stop(); }

void Notifier::stop() {
  for (const auto& line : lines_) line->stop();
}

Notifier::Line* Notifier::find(const std::string& name) const {
  for (const auto& line : lines_) {
    if (line->rule().name == name) return line.get();
  }
  return nullptr;
}

std::vector<model::ReceiverRule> Notifier::rules() const {
  std::vector<model::ReceiverRule> out;
  for (const auto& line : lines_) out.push_back(line->rule());
  return out;
}

void Notifier::send(const model::Notification& row, Tried tried) {
  Line* const line = find(row.receiver);
  if (line == nullptr) return tried(row.id, "this master's settings name no such receiver");
  line->put({message_of(row, sender_),
             [id = row.id, tried = std::move(tried), name = row.receiver](const std::string& error) {
               if (!error.empty()) {
                 log_warn("notify", "a notification was not accepted; it is tried again",
                          {{"receiver", name}, {"id", id}, {"why", error}});
               }
               tried(id, error);
             }});
}

void Notifier::tell(model::Happening what, const std::string& id, const std::string& text, WallTime now) {
  model::Notification row;
  row.what = what;
  row.text = text;
  row.made = now;
  for (const auto& line : lines_) {
    if (!line->rule().wants.contains(what)) continue;
    row.receiver = line->rule().name;
    line->put({message_of(row, sender_, id),
               [name = row.receiver, id](const std::string& error) {
                 if (error.empty()) return log_info("notify", "told", {{"receiver", name}, {"id", id}});
                 log_warn("notify", "could not tell a receiver",
                          {{"receiver", name}, {"id", id}, {"why", error}});
               },
               kOwnTries});
  }
}

Result<std::string> Notifier::test(const std::string& receiver, const std::string& id, WallTime now) {
  Line* const line = find(receiver);
  if (line == nullptr) {
    return fail(ErrorCode::NotFound, "this master's settings name no receiver '" + receiver + "'");
  }
  model::Notification row;
  row.receiver = receiver;
  row.text = "a test of this receiver; nothing has happened";
  row.made = now;
  return line->deliver(message_of(row, sender_, id), {});
}

}  // namespace rota::master::notify
