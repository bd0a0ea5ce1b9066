#include "campaign.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "faults.h"
#include "world.h"

namespace rota::sim {
namespace {

/// One process of a campaign: its share of the seeds, and its output.
struct Hand {
  pid_t pid = 0;
  int told = -1;
  std::string text;
};

std::string live_share(const CampaignPlan& plan, int hand, volatile std::uint64_t* present) {
  Marks marks;
  std::int64_t events = 0, lived_ms = 0;
  std::uint64_t worlds = 0;
  std::ostringstream out;
  const std::uint64_t all = plan.first.size() + plan.seeds;
  for (auto i = static_cast<std::uint64_t>(hand); i < all; i += static_cast<std::uint64_t>(plan.jobs)) {
    const bool kept = i < plan.first.size();
    Recipe recipe;
    recipe.seed = kept ? plan.first[i] : plan.from + i - plan.first.size();
    *present = recipe.seed;
    Lived lived = live(recipe, marks);
    events += lived.events;
    lived_ms += lived.lived_ms;
    ++worlds;
    if (lived.broken.empty() && i % static_cast<std::uint64_t>(plan.double_every) == 0) {
      Marks again;
      if (live(recipe, again).hash != lived.hash) lived.broken = "two lives of one seed differ";
    }
    if (lived.broken.empty()) continue;
    out << "broken " << recipe.seed << " " << lived.broken << "\n";
    break;
  }
  for (const auto& [name, count] : marks.counts()) out << "mark " << name << " " << count << "\n";
  out << "sums " << worlds << " " << events << " " << lived_ms << "\n";
  return out.str();
}

void write_all(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = write(to, text.data() + done, text.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

/// Forks; the child sends the text of `deed` and ends.
template <typename Deed>
Hand begin_hand(Deed deed) {
  int ends[2];
  Hand hand;
  std::fflush(nullptr);
  if (pipe(ends) != 0) return hand;
  hand.pid = fork();
  if (hand.pid == 0) {
    close(ends[0]);
    write_all(ends[1], deed(ends[1]));
    _exit(0);
  }
  close(ends[1]);
  hand.told = ends[0];
  return hand;
}

/// Reads its output; true when it has ended.
bool hear(Hand& hand) {
  char buffer[65536];
  const ssize_t got = read(hand.told, buffer, sizeof buffer);
  if (got > 0) {
    hand.text.append(buffer, static_cast<std::size_t>(got));
    return false;
  }
  close(hand.told);
  hand.told = -1;
  return true;
}

/// How it ended: empty when it ended well.
std::string reap(Hand& hand) {
  int status = 0;
  waitpid(hand.pid, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  return WIFSIGNALED(status) ? "it died of signal " + std::to_string(WTERMSIG(status)) : "it ended early";
}

void receive_report(const Hand& hand, CampaignResult& result) {
  std::istringstream lines(hand.text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string kind, name;
    words >> kind;
    if (kind == "mark") {
      std::int64_t count = 0;
      words >> name >> count;
      result.marks.hit(name, count);
    } else if (kind == "sums") {
      std::uint64_t worlds = 0;
      std::int64_t events = 0, lived = 0;
      words >> worlds >> events >> lived;
      result.lived += worlds;
      result.events += events;
      result.lived_ms += lived;
    } else if (kind == "broken" && result.broken.empty()) {
      words >> result.failed_seed;
      std::getline(words, result.broken);
    }
  }
}

World* g_world = nullptr;  // this process's world, for the message when a check of the product fails
int g_told = 2;

void tell_strikes() {
  std::ostringstream out;
  for (const auto& kind : g_world->faults().kinds_on()) out << "kind " << kind << "\n";
  for (const auto& [kind, ordinal] : g_world->faults().strikes()) out << "strike " << kind << " " << ordinal << "\n";
  write_all(g_told, out.str());
}

void on_abort(int) {
  if (g_world != nullptr) tell_strikes();
  _exit(3);
}

}  // namespace

Lived live(const Recipe& recipe, Marks& marks) {
  World world(recipe, marks);
  Lived lived;
  lived.broken = world.run();
  lived.hash = world.trace_hash();
  lived.events = world.clockwork.deeds();
  lived.lived_ms = world.lived().count();
  return lived;
}

std::string live_apart(const Recipe& recipe, std::vector<std::string>* kinds,
                       std::vector<std::pair<std::string, int>>* strikes) {
  Hand hand = begin_hand([&recipe](int told) {
    g_told = told;
    std::signal(SIGABRT, on_abort);
    Marks marks;
    World world(recipe, marks);
    g_world = &world;
    const std::string broken = world.run();
    tell_strikes();
    return broken.empty() ? std::string() : "broken " + broken + "\n";
  });
  while (!hear(hand)) {
  }
  const std::string death = reap(hand);
  std::string broken = death.empty() ? "" : "a check of the product failed (" + death + ")";
  std::istringstream lines(hand.text);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string what, name;
    int ordinal = 0;
    words >> what;
    if (what == "broken") {
      std::getline(words, broken);
    } else if (what == "kind" && kinds != nullptr) {
      words >> name;
      kinds->push_back(name);
    } else if (what == "strike" && strikes != nullptr) {
      words >> name >> ordinal;
      strikes->emplace_back(name, ordinal);
    }
  }
  return broken;
}

CampaignResult run_campaign(const CampaignPlan& plan) {
  CampaignResult result;
  const std::size_t bytes = sizeof(std::uint64_t) * static_cast<std::size_t>(plan.jobs);
  void* shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* present = static_cast<volatile std::uint64_t*>(shared);
  std::vector<Hand> hands;
  for (int i = 0; i < plan.jobs; ++i) {
    hands.push_back(begin_hand([&plan, i, present](int) { return live_share(plan, i, present + i); }));
  }
  std::size_t open = hands.size();
  while (open > 0) {
    std::vector<pollfd> waits;
    for (const Hand& hand : hands) waits.push_back({hand.told, POLLIN, 0});
    if (poll(waits.data(), waits.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < hands.size(); ++i) {
      if (waits[i].revents == 0 || !hear(hands[i])) continue;
      --open;
      receive_report(hands[i], result);
      const std::string death = reap(hands[i]);
      hands[i].pid = 0;
      if (!death.empty() && result.broken.empty()) {
        result.failed_seed = present[i];
        result.broken = "a check of the product failed, " + death;
      }
      if (result.broken.empty()) continue;
      for (const Hand& other : hands) {
        if (other.pid > 0) kill(other.pid, SIGKILL);
      }
    }
  }
  munmap(shared, bytes);
  return result;
}

}  // namespace rota::sim
