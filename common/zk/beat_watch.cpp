#include "common/zk/beat_watch.h"

namespace rota::zk {

BeatWatch::BeatWatch(Session& session, std::string folder, Ended ended)
    : session_(session), folder_(std::move(folder)), ended_(std::move(ended)) {
  session_.attach(*this);
}

BeatWatch::~BeatWatch() { session_.detach(*this); }

void BeatWatch::watch(const std::string& name) {
  session_.tasks().post(this, [this, name] {
    const auto client = session_.client();
    if (!client || !session_.is_connected() || read_.contains(name)) return;
    if (client->get(folder_ + "/" + name, Watch::Yes)) read_[name] = BootClock::now();
  });
}

void BeatWatch::watch_fired(Client&, const Event& event) {
  if (!event.path.starts_with(folder_ + "/")) return;
  const auto read = read_.extract(event.path.substr(folder_.size() + 1));
  if (read.empty()) return;
  if (event.change != Event::Change::Deleted) return;
  ended_(read.key(), read.mapped());
}

}  // namespace rota::zk
