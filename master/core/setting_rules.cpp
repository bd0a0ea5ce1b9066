#include "master/core/setting_rules.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/utf8.h"
#include "common/model/setting_fields.h"
#include "master/core/batch_rows.h"
#include "master/core/notices.h"
#include "master/core/workers/conduct_rules.h"
#include "master/core/workers/departed_rules.h"

namespace rota::master::core {
namespace {

LoadWeights load_weights(const model::Settings& settings) {
  return {settings.load_cpu, settings.load_memory, settings.load_slots};
}

/// What was planned by the values before is planned anew. All else is read when it is needed.
void act_on_change(Context& ctx, const model::Settings& before) {
  State& state = ctx.state;
  const model::Settings& now = state.options();
  if (now.catch_up_rate != before.catch_up_rate) {
    for (auto& [name, pool] : state.catch_up().pools()) pool.pace.hurry(ctx.now.mono, now.catch_up_rate);
  }
  if (now.keep_offline != before.keep_offline) bound_departed(state);
  if (now.hold_first < before.hold_first) shorten_holds(ctx);
  state.workers().set_load_weights(load_weights(now));
  judge_all_anew(ctx);
}

std::string value_words(const std::string& name, const std::optional<std::int64_t>& value) {
  const model::SettingField* field = model::find_setting(name);
  if (!value) return "default";
  return field == nullptr ? std::to_string(*value) : model::setting_text(*field, *value);
}

bool refuse_stale_setting(Context& ctx, const SetSetting& event, std::int32_t present) {
  if (!event.expected_version || *event.expected_version == present) return false;
  reply(ctx, event.token,
        Error(ErrorCode::Conflict,
              fmt::format(
                  "setting {} has version {}, the change was made from version {}; read it again (rota "
                  "setting get {})",
                  shown_text(event.name), present, *event.expected_version, shown_text(event.name))));
  return true;
}

model::SettingRow row_of(Context& ctx, const SetSetting& event, std::int32_t version) {
  model::SettingRow row;
  row.name = event.name;
  row.version = version;
  row.value = event.value;
  row.changed = ctx.at;
  row.principal = event.principal;
  row.why = event.why;
  return row;
}

}  // namespace

void handle_set_setting(Context& ctx, const SetSetting& event) {
  State& state = ctx.state;
  const model::SettingRow* standing = state.settings().find(event.name);
  const std::int32_t present = standing == nullptr ? 0 : standing->version;
  if (refuse_stale_setting(ctx, event, present)) return;
  const auto value = standing == nullptr ? std::nullopt : standing->value;
  if (event.value == value) return reply(ctx, event.token, SettingApplied{present, false});
  model::SettingRow row = row_of(ctx, event, present + 1);
  if (const std::string wrong = model::why_not_together(state.settings().with(row)); !wrong.empty()) {
    return reply(ctx, event.token, Error(ErrorCode::InvalidArgument, wrong));
  }
  row.number = state.new_setting_number();
  tell(ctx, "setting changed",
       {{"setting", row.name},
        {"value", value_words(row.name, row.value)},
        {"before", value_words(row.name, value)},
        {"version", std::to_string(row.version)},
        {"by", row.principal},
        {"why", row.why}});
  ctx.out.changes.settings.push_back(row);
  const SettingApplied applied{row.version, true};
  const model::Settings before = state.options();
  state.put_setting(std::move(row));
  act_on_change(ctx, before);
  reply(ctx, event.token, applied);
}

void recover_settings(State& state, std::vector<model::SettingRow> rows) {
  for (model::SettingRow& row : rows) state.put_setting(std::move(row));
  state.workers().set_load_weights(load_weights(state.options()));
}

}  // namespace rota::master::core
