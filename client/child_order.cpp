#include "client/child_order.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "common/base/utf8.h"

namespace rota::client {
namespace {

class Walk {
 public:
  explicit Walk(const std::vector<thrift::JobDefinition>& jobs) : jobs_(jobs), seen_(jobs.size(), Seen::No) {
    for (std::size_t i = 0; i < jobs.size(); ++i) places_.emplace(std::pair{jobs[i].space, jobs[i].name}, i);
  }

  ChildOrder all() {
    for (std::size_t i = 0; i < jobs_.size(); ++i) visit(i);
    return std::move(out_);
  }

 private:
  enum class Seen { No, Under, Done };

  void visit(std::size_t place) {
    if (seen_[place] == Seen::Done || !out_.circle.empty()) return;
    if (seen_[place] == Seen::Under) return tell_circle(place);
    seen_[place] = Seen::Under;
    path_.push_back(place);
    for (const NamedChild& child : named_children(jobs_[place])) {
      const auto found = places_.find({jobs_[place].space, child.name});
      if (found != places_.end()) visit(found->second);
    }
    path_.pop_back();
    seen_[place] = Seen::Done;
    out_.order.push_back(place);
  }

  void tell_circle(std::size_t place) {
    bool is_in = false;
    for (const std::size_t each : path_) {
      is_in = is_in || each == place;
      if (is_in) out_.circle += shown_text(jobs_[each].name) + " -> ";
    }
    out_.circle += shown_text(jobs_[place].name);
  }

  const std::vector<thrift::JobDefinition>& jobs_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
  std::vector<Seen> seen_;
  std::vector<std::size_t> path_;
  ChildOrder out_;
};

}  // namespace

ChildOrder child_order(const std::vector<thrift::JobDefinition>& jobs) { return Walk(jobs).all(); }

std::vector<std::size_t> parents_first(const std::vector<thrift::JobDefinition>& jobs) {
  const ChildOrder children = child_order({jobs.rbegin(), jobs.rend()});
  std::vector<std::size_t> places(jobs.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = children.circle.empty() ? jobs.size() - 1 - children.order[jobs.size() - 1 - i] : i;
  }
  return places;
}

std::vector<NamedChild> named_children(const thrift::JobDefinition& job) {
  std::vector<NamedChild> out;
  const std::pair<const char*, const std::vector<std::string>*> lists[] = {
      {"on_success", &job.rules.on_success},
      {"on_failure", &job.rules.on_failure},
      {"on_end", &job.rules.on_end}};
  for (const auto& [key, names] : lists) {
    for (std::size_t i = 0; i < names->size(); ++i) {
      out.push_back({fmt::format("{}[{}]", key, i), (*names)[i]});
    }
  }
  return out;
}

}  // namespace rota::client
