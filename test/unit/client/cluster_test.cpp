#include "client/cluster.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/rpc/endpoint.h"
#include "common/rpc/error_wire.h"
#include "common/rpc/server.h"
#include "test/support/patience.h"

namespace rota::client::test {
namespace {

bool is_refused(const thrift::JobEdited& answer) { return answer.__isset.error; }

/// Answers each item with the next of its words: a kind of error, or that it was stored.
class WordyMaster final : public thrift::JobServiceNull {
 public:
  using Words = std::vector<std::optional<ErrorCode>>;

  explicit WordyMaster(std::map<std::string, Words> words) : words_(std::move(words)) {}

  void apply_jobs(std::vector<thrift::JobEdited>& out, const thrift::RequestHead&,
                  const std::vector<thrift::JobEdit>& edits, const bool) override {
    std::scoped_lock lock(mutex_);
    calls_.emplace_back();
    if (calls_.size() == lost_call_) throw rpc::to_wire(Error(ErrorCode::UnknownOutcome, "lost by the test"));
    for (const thrift::JobEdit& edit : edits) {
      out.emplace_back().__set_what("created");
      if (const auto error = next(edit.definition.name)) out.back().__set_error(*error);
    }
  }

  void submit_many(std::vector<thrift::SubmitResult>& out, const thrift::RequestHead&,
                   const std::vector<thrift::SubmitItem>& items) override {
    std::scoped_lock lock(mutex_);
    calls_.emplace_back();
    for (const thrift::SubmitItem& item : items) {
      keys_.push_back(item.request_key);
      out.emplace_back().__set_run(7);
      if (const auto error = next(item.definition.name)) out.back().__set_error(*error);
    }
  }

  /// The jobs "j0000" and so on, those after `after` if it knows that.
  void list_jobs(std::vector<thrift::JobInfo>& out, const thrift::RequestHead&, const std::string&, const std::string&,
                 const std::int32_t limit, const std::string& after) override {
    std::scoped_lock lock(mutex_);
    for (int i = 0; i < jobs_ && out.size() < static_cast<std::size_t>(std::min(limit, 1000)); ++i) {
      const std::string number = std::to_string(10'000 + i);
      if (knows_after_ && "j" + number <= after) continue;
      out.emplace_back().definition.name = "j" + number;
    }
  }

  void delete_job(thrift::JobEdited& out, const thrift::RequestHead&, const std::string&, const std::string& name,
                  const std::string&) override {
    std::scoped_lock lock(mutex_);
    calls_.emplace_back();
    if (const auto error = next(name)) throw *error;
    out.__set_id(7);
  }

  void have_jobs(int count, bool knows_after) {
    std::scoped_lock lock(mutex_);
    jobs_ = count;
    knows_after_ = knows_after;
  }
  /// The leader that it names.
  void name_leader(const std::string& address) {
    std::scoped_lock lock(mutex_);
    leader_ = address;
  }
  /// The answer of this call, counted from 1, is lost.
  void lose_answer_of(std::size_t call) {
    std::scoped_lock lock(mutex_);
    lost_call_ = call;
  }
  /// The names in each call.
  std::vector<std::string> calls() const {
    std::scoped_lock lock(mutex_);
    return calls_;
  }
  /// Of all submits, in their order.
  std::vector<std::string> keys() const {
    std::scoped_lock lock(mutex_);
    return keys_;
  }

 private:
  std::optional<thrift::RotaError> next(const std::string& name) {
    calls_.back() += name;
    Words& words = words_[name];
    if (words.empty()) return std::nullopt;
    const auto word = words.front();
    words.erase(words.begin());
    if (!word) return std::nullopt;
    return rpc::to_wire(Error(*word, "by the test"), leader_);
  }

  mutable std::mutex mutex_;
  std::map<std::string, Words> words_;
  std::vector<std::string> calls_;
  std::vector<std::string> keys_;
  std::string leader_;
  std::size_t lost_call_ = 0;
  int jobs_ = 0;
  bool knows_after_ = true;
};

/// A master that listens, and a client that knows it alone.
struct Desk {
  explicit Desk(std::map<std::string, WordyMaster::Words> words, Millis deadline = testing::kPatience)
      : master(std::make_shared<WordyMaster>(std::move(words))),
        server(std::make_shared<thrift::JobServiceProcessor>(master), {}) {
    REQUIRE(server.start());
    ClusterOptions options;
    options.masters = {address()};
    options.deadline = deadline;
    cluster = std::make_unique<Cluster>(options);
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(server.port()); }

  std::vector<thrift::JobEdited> apply(const std::vector<std::string>& names,
                                       std::optional<int> expected_version = std::nullopt) {
    std::vector<thrift::JobEdit> edits;
    for (const std::string& name : names) {
      edits.emplace_back().definition.name = name;
      if (expected_version) edits.back().__set_expected_version(*expected_version);
    }
    auto answers = cluster->apply_jobs(edits, false);
    REQUIRE(answers);
    return *answers;
  }

  std::shared_ptr<WordyMaster> master;
  rpc::Server server;
  std::unique_ptr<Cluster> cluster;
};

}  // namespace

TEST_CASE("client: an edit refused by the end of a Term goes to the next leader, the others keep their answers") {
  Desk desk({{"b", {ErrorCode::NotLeader, ErrorCode::Unavailable}}, {"c", {ErrorCode::UnknownOutcome}}});
  const auto answers = desk.apply({"a", "b", "c"});
  REQUIRE(answers.size() == 3);
  for (const thrift::JobEdited& answer : answers) {
    CHECK(!is_refused(answer));
    CHECK(answer.what == "created");
  }
  CHECK(desk.master->calls() == std::vector<std::string>{"abc", "bc", "b"});
}

TEST_CASE("client: a wrong edit, or one that may be stored and expects a version, is sent only once") {
  Desk wrong({{"a", {ErrorCode::InvalidArgument}}});
  CHECK(is_refused(wrong.apply({"a"})[0]));
  Desk versioned({{"a", {ErrorCode::UnknownOutcome}}});
  CHECK(is_refused(versioned.apply({"a"}, 3)[0]));
  CHECK(versioned.master->calls().size() == 1);
  CHECK(wrong.master->calls().size() == 1);
  Desk surely_not_stored({{"a", {ErrorCode::NotLeader}}});
  CHECK(!is_refused(surely_not_stored.apply({"a"}, 3)[0]));
}

TEST_CASE("client: a lost answer to an edit that expects a version is reported, whatever came before") {
  Desk desk({{"a", {std::nullopt}}, {"b", {ErrorCode::NotLeader}}});
  desk.master->lose_answer_of(2);
  const auto answers = desk.apply({"a", "b"}, 3);
  CHECK(!is_refused(answers[0]));
  REQUIRE(is_refused(answers[1]));
  CHECK(answers[1].error.kind == rpc::kind_of(ErrorCode::UnknownOutcome));
  CHECK(desk.master->calls() == std::vector<std::string>{"ab", ""});

  Desk unversioned({});
  unversioned.master->lose_answer_of(1);
  CHECK(!is_refused(unversioned.apply({"a"})[0]));
}

TEST_CASE("client: a job that is gone after a deletion with a lost answer was deleted; otherwise it is not found") {
  Desk desk({{"a", {ErrorCode::UnknownOutcome, ErrorCode::NotLeader, ErrorCode::NotFound}},
             {"b", {ErrorCode::NotLeader, ErrorCode::NotFound}}});
  const auto gone = desk.cluster->delete_job("default", "a", "");
  REQUIRE(gone);
  CHECK(gone->id == 0);
  CHECK(gone->what == "deleted");
  const auto unknown = desk.cluster->delete_job("default", "b", "");
  REQUIRE(!unknown);
  CHECK(unknown.error().code == ErrorCode::NotFound);
  CHECK(desk.cluster->delete_job("default", "c", "")->id == 7);
  CHECK(desk.master->calls() == std::vector<std::string>{"a", "a", "a", "b", "b", "c"});
}

TEST_CASE("client: asks the leader at once that an item's error names") {
  Desk next({});
  Desk before({{"a", WordyMaster::Words(1000, ErrorCode::NotLeader)}});
  before.master->name_leader(next.address());
  CHECK(!is_refused(before.apply({"a"})[0]));
  CHECK(before.master->calls().size() == 1);
  CHECK(next.master->calls().size() == 1);
}

TEST_CASE("client: repeats submits that were refused temporarily, with their keys") {
  Desk desk({{"b", {ErrorCode::Overloaded, ErrorCode::UnknownOutcome}}});
  std::vector<thrift::SubmitItem> items(2);
  items[0].definition.name = "a";
  items[1].definition.name = "b";
  const auto answers = desk.cluster->submit_many(items);
  REQUIRE(answers);
  CHECK(!(*answers)[1].__isset.error);
  CHECK(desk.master->calls() == std::vector<std::string>{"ab", "b", "b"});
  const auto keys = desk.master->keys();
  REQUIRE(keys.size() == 4);
  CHECK(keys[1] == keys[2]);
  CHECK(keys[1] == keys[3]);
  CHECK(keys[0] != keys[1]);
}

TEST_CASE("client: an item that is refused until the deadline says why") {
  Desk desk({{"a", WordyMaster::Words(1000, ErrorCode::Overloaded)}}, Millis{200});
  const auto answer = desk.apply({"a"})[0];
  REQUIRE(is_refused(answer));
  CHECK(answer.error.message == "by the test");
}

TEST_CASE("each_job: more jobs than a page are all read, and not the first thousand alone") {
  Desk desk({});
  desk.master->have_jobs(2500, true);
  std::set<std::string> names;
  const auto note = [&](const thrift::JobInfo& job) { return names.insert(job.definition.name).second; };
  REQUIRE(desk.cluster->each_job("default", "", 5000, note));
  CHECK(names.size() == 2500);
  names.clear();
  REQUIRE(desk.cluster->each_job("default", "", 7, [&](const auto& job) { return note(job) && names.size() < 30; }));
  CHECK(names.size() == 30);
}

TEST_CASE("each_job: masters of before, which know no pages, are told and not asked forever") {
  Desk desk({});
  desk.master->have_jobs(1500, false);
  const auto read = desk.cluster->each_job("default", "", 1000, [](const auto&) { return true; });
  REQUIRE(!read);
  CHECK(read.error().code == ErrorCode::Unsupported);
  CHECK(read.error().message.find("the first 1000 jobs alone") != std::string::npos);
  desk.master->have_jobs(900, false);
  CHECK(desk.cluster->each_job("default", "", 1000, [](const auto&) { return true; }));
}

}  // namespace rota::client::test
