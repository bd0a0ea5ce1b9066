// One row of the field table (job_fields.h): all that is to know of one field of a job definition. Whatever
// handles definitions visits the rows and names no field by itself: wire, stored JSON, fingerprint, ids of
// one-offs, checks, job files, their JSON Schema and the table in docs/jobs.md.
//
// A row knows the field in the model (a pointer to the member) and in the generated Thrift struct (by name,
// in generic lambdas, so that this header needs no Thrift). Rows are made and visited at compile time.
// Thread: constant.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace rota::model {

enum class FieldKind {
  Choice,    ///< an enumerator; its words are those of wire/job_names.h
  Whole,     ///< a whole number
  Number,    ///< a double
  Duration,  ///< Millis
  Size,      ///< bytes, written as "512MiB"
  Cores,     ///< thousandths of a core, written as 0.25
  Octal,     ///< file modes, written as 027
  Moment,    ///< std::optional<WallTime>
  Text,
  Texts,    ///< a list of them
  TextMap,  ///< texts by name
  CountMap, ///< whole numbers by name, each a Word
  AmountMap, ///< the same, of 64 bits, written as numbers or as "8GiB"
  Group     ///< a struct with rows of its own
};

/// How a job file writes what stands in lines of retry_text.h.
enum class LineForm {
  Plain,
  Ends,  ///< Texts: [{exit: [75]}, timed_out]
  Again  ///< Text: {exit: [75], every: 5m, at_most: 6h}
};

enum class TextForm {
  Plain,  ///< UTF-8 without NUL
  Word,   ///< letters, digits, '_', '-', '.'
  Name,   ///< printable, no space at either end
  Path    ///< absolute
};

/// How a field enters a definition's fingerprint (master/core/definition_hash.h). New rows are Named.
enum class InHash {
  Always,          ///< in the order of the rows
  Isolation,       ///< all of these, in the order of the rows, as soon as one is changed
  IsolationNamed,  ///< Named, and its change brings the Isolation ones along
  Bare,            ///< when changed, without its name
  Named            ///< when changed, behind its name: changes no fingerprint that is stored
};

/// A word of which job files and the wire have different spellings. Both are read, each writes its own.
struct Spelling {
  std::string_view in_file;
  std::string_view on_wire;
};

/// Words that older programs do not know. In stored JSON the field's own key then has `stand_in`, which they
/// know, and the word itself stands under `json`.
struct NewerWord {
  std::string_view word;               ///< or several, with a space between them
  std::string_view stand_in;
  std::string_view json;

  constexpr bool is_one(std::string_view text) const {
    for (std::string_view left = word; !left.empty();) {
      const std::string_view first = left.substr(0, left.find(' '));
      if (first == text) return true;
      left.remove_prefix(std::min(first.size() + 1, left.size()));
    }
    return false;
  }
};

/// What a row says, whatever its kind.
struct FieldFacts {
  std::string_view key = "";     ///< in a job file, from its top: "retry.delay"; before the dot is a map
  std::string_view help = "";    ///< one line of Markdown, for docs/jobs.md and for editors
  std::int64_t low = 0;          ///< of numbers, durations (ms) and sizes: the least, in the wire's unit
  std::int64_t high = 0;         ///< the same: the most; Texts: how many; CountMap, AmountMap: of each number
  std::size_t bytes = 0;         ///< most bytes of Text, each value of Texts and TextMap, a name of such maps
  TextForm form = TextForm::Plain;
  LineForm lines = LineForm::Plain;
  /// 0 (or the empty text) is allowed besides: nothing is given. Job files leave the key out then.
  bool or_none = false;
  /// TextMap: a value names one or several words; in job files a list of them may stand there.
  bool is_of_words = false;
  bool or_forever = false;       ///< Duration: -1 is allowed besides, "forever" in job files
  std::string_view unit = "";    ///< Whole, Texts: what is counted, for messages
  std::string_view unset = "";   ///< what holds when it is left out, where the default does not say it
  bool is_short_form = false;    ///< the group may be written as this value alone: `retry: 3`
  std::string_view former = "";  ///< the key's last part of before: refused, with the new one named
  Spelling spelling = {};
  NewerWord newer = {};
  InHash in_hash = InHash::Named;
  std::string_view hash_name = "";  ///< of a Named one; else its name on the wire
  /// In the content hash (wire/content_hash.h). 0: by its name, and only when it is changed.
  int content_id = 0;
  std::string_view json = "";           ///< in stored JSON and in `-o json`; else its name on the wire
  bool is_stored_when_changed = false;  ///< left out of stored JSON while it has its default
  std::string_view since = "0.1";       ///< the first release that knew it
};

/// A member of the generated struct: name and access, for whatever struct has it.
template <typename Get, typename IsSet, typename Mark>
struct WireMember {
  std::string_view name;
  Get get;
  IsSet is_set;
  Mark mark;
};
template <typename Get, typename IsSet, typename Mark>
WireMember(std::string_view, Get, IsSet, Mark) -> WireMember<Get, IsSet, Mark>;

template <FieldKind K, typename Struct, typename Value, typename Wire>
struct Field : FieldFacts {
  static constexpr FieldKind kind = K;
  using value_type = Value;

  Value Struct::*member;
  Wire wire;

  constexpr Field(Value Struct::*at, Wire on_wire, const FieldFacts& facts)
      : FieldFacts(facts), member(at), wire(on_wire) {}

  constexpr const Value& in(const Struct& from) const { return from.*member; }
  constexpr Value& in(Struct& from) const { return from.*member; }
  template <typename WireStruct>
  constexpr auto& on_wire(WireStruct& from) const {
    return wire.get(from);
  }
  /// An optional field of the generated struct.
  template <typename WireStruct>
  constexpr bool is_set(const WireStruct& from) const {
    return wire.is_set(from);
  }
  template <typename WireStruct>
  constexpr void mark_set(WireStruct& from) const {
    wire.mark(from);
  }

  constexpr std::string_view wire_name() const { return wire.name; }
  constexpr std::string_view json_name() const { return json.empty() ? wire.name : json; }
  constexpr std::string_view name_in_hash() const { return hash_name.empty() ? wire.name : hash_name; }
  /// The map of the job file that it stands in, and its key there: "retry" and "delay"; "" and "pool".
  constexpr std::string_view group() const {
    const auto dot = key.find('.');
    return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
  }
  constexpr std::string_view leaf() const {
    const auto dot = key.find('.');
    return dot == std::string_view::npos ? key : key.substr(dot + 1);
  }
};

template <FieldKind K, typename Struct, typename Value, typename Wire>
constexpr auto field(Value Struct::*member, Wire wire, const FieldFacts& facts) {
  return Field<K, Struct, Value, Wire>(member, wire, facts);
}

/// Names the rows of a struct: for_each_field(FieldsOf<JobRules>{}, visit).
template <typename Struct>
struct FieldsOf {};

}  // namespace rota::model

/// The member of `Struct` (an alias where it is used) and that of the generated struct.
#define ROTA_FIELD(member, wire_member)                                                        \
  &Struct::member, ::rota::model::WireMember {                                                 \
    #wire_member, [](auto& on_wire) -> auto& { return on_wire.wire_member; },                  \
        [](const auto& on_wire) -> bool { return on_wire.__isset.wire_member; },               \
        [](auto& on_wire) { on_wire.__isset.wire_member = true; }                              \
  }
