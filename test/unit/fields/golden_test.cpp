// What stored rows hang on, written down from the programs that wrote them: fingerprints (job_version), ids of
// one-offs and their request hashes, and the JSON of each definition (as FNV-1a of its text).
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/wire/content_hash.h"
#include "common/wire/definition_json.h"
#include "master/core/definition_hash.h"
#include "test/unit/fields/golden_definitions.h"

namespace rota::testing {
namespace {

struct Golden {
  const char* name;
  std::uint64_t fingerprint;
  std::int64_t one_off;
  std::uint64_t json;
};

const Golden kGolden[] = {
    {"default", 15356490267212951524ull, 6945406889855723064, 12045189215458902032ull},
    {"plain", 17125216168072349211ull, 6366722224646355139, 9983511602235112915ull},
    {"space", 3475807129353012206ull, 7574360542633845547, 16294943392214056495ull},
    {"name", 2352331429515289360ull, 8750364824503645722, 15526310274069591750ull},
    {"description", 11255864450682599285ull, 7140086430347560804, 18078323347181917865ull},
    {"owner", 17714601975292756935ull, 7846681886682738336, 4202966616598751073ull},
    {"labels", 16452317341138649446ull, 6592477420906141010, 3079378921117904908ull},
    {"schedule.kind", 3579656255765978074ull, 8373535513045718632, 2294571270666705222ull},
    {"schedule.cron", 7780981687929697707ull, 5941515942278502492, 2454432581824271910ull},
    {"schedule.dialect", 2082092040936175813ull, 5189557785454761245, 4208198756126178383ull},
    {"schedule.time_zone", 17371680548852131258ull, 8514792910669914601, 18432749697362971234ull},
    {"schedule.skipped_time", 8538071237641106920ull, 7053578670559718263, 5179240314081758769ull},
    {"schedule.repeated_time", 16340150363446038721ull, 5922567508120032176, 3866107139505694868ull},
    {"schedule.interval", 8979486867725076213ull, 5429859828519262948, 7742140227862433509ull},
    {"schedule.start", 10530416574552815020ull, 5376562150805997989, 6830897833287520070ull},
    {"schedule.end", 6460229397158748796ull, 8120211611941636101, 16604603131179694102ull},
    {"overlap", 3788893058078965313ull, 6448925206617267338, 10488281139149344397ull},
    {"queue_limit", 11834083109949068494ull, 5900711519259525646, 2198494632234039277ull},
    {"late", 606376313331666696ull, 5479679263636793471, 8153873488662342530ull},
    {"tick_grace", 17420609296294124678ull, 7498869218431408546, 10523887600714563590ull},
    {"pool", 4608424834562683428ull, 9106462306721243914, 13986827466977412784ull},
    {"route", 8081677677362652074ull, 4768140569775792525, 18103023325232662261ull},
    {"worker", 14167521298927779278ull, 5080277275776059848, 2567644199975730183ull},
    {"retry.count", 16488983390941674831ull, 7824533034323506633, 9827425585070957935ull},
    {"retry.delay", 10911715813612934881ull, 6972917005157462114, 16556965535067087460ull},
    {"retry.factor", 13008869254694088206ull, 7607493347341784992, 17234461745208727445ull},
    {"retry.max_delay", 4999451121544676810ull, 8005460118822945238, 12206498235107424541ull},
    {"timeout", 5333428482316093626ull, 8374067279606705851, 7807484686956171325ull},
    {"kill_grace", 9701632840768820893ull, 6629799227299237907, 2750388384757726494ull},
    {"loss never", 7105783398770192746ull, 5558975232476343135, 7449017540950059609ull},
    {"loss confirm", 18324758216852058593ull, 8525043298570923865, 17106174736841283600ull},
    {"disconnect_grace", 9065860451338905060ull, 5804378746815017149, 9134911082724466202ull},
    {"keep_logs", 9590225873397510689ull, 4744728420142298683, 11341755338551515433ull},
    {"keep_logs forever", 17479316465490147443ull, 5255055820445663976, 9298292727236214713ull},
    {"keep_runs", 7556470393847116556ull, 9222849938568720140, 14831633053740868137ull},
    {"loss_most", 4249239411905447328ull, 5179856475905849660, 11188344850131206181ull},
    {"handler", 10539772082153072949ull, 5861470104138108697, 15668117016175358102ull},
    {"argv", 15071629994242691291ull, 5887270809541308790, 13344857291573681216ull},
    {"script", 2967403334550526141ull, 8617473874321476796, 9221743631052155129ull},
    {"interpreter", 3058140871955021520ull, 6765186448419377866, 5631813847083625528ull},
    {"environment", 10707921866219223886ull, 6285991362059666563, 10655391612665623025ull},
    {"parameters", 12047255986729104678ull, 8275533842585513702, 3413367716526356145ull},
    {"folder", 4947921665074620017ull, 5202308729122906847, 8114534900623775426ull},
    {"output_cap", 11563513107567426915ull, 5218442936086242569, 12440277643452805438ull},
    {"limits.memory", 7982551252822381705ull, 5467423637948749016, 7285114215241634130ull},
    {"limits.address_space", 18292521892600792393ull, 8976164885420500084, 2261083671399412154ull},
    {"limits.processes", 100579155337875850ull, 5831082578655899911, 12293172983577330224ull},
    {"limits.open_files", 8242454479370877961ull, 7675588190288210515, 18091200755974638139ull},
    {"limits.cpu", 3038352511552095084ull, 8789624891806254986, 13754012904728270810ull},
    {"limits.file_size", 8912868599697380111ull, 7651508241060261191, 6742162671546455885ull},
    {"limits.folder", 15780750201316933602ull, 5339802274451420574, 14451173875185861429ull},
    {"limits.core", 13195942849454726849ull, 6109081865227894443, 1957643614856737083ull},
    {"limits.cpus", 3765911910789823948ull, 9187286776286009668, 12718490569216130568ull},
    {"nice", 11605278336260008387ull, 7446308828915509708, 11207548709075475887ull},
    {"umask", 1569003971029291972ull, 6873301569004798969, 16558997035714696829ull},
    {"run_as", 6868534657131461604ull, 8136080698279019707, 4526788994419819024ull},
    {"keep_folder", 10162064033637755304ull, 6946572658846632676, 12667053509301832087ull},
    {"isolation", 15871527008758713690ull, 6849535232788138140, 5132447732457139330ull},
    {"all", 17929110834251489419ull, 7294396254369563281, 573968188174775410ull},
    {"keep_logs, keep_runs, loss_most", 16847848283096834571ull, 8123924516581971648, 2780297570188123389ull},
    {"keep, loss_most, cpus, isolation", 18081007052254832364ull, 4997009793452637734, 12993269056583774399ull},
    {"keep, loss_most, cpus, memory, umask, isolation", 8586352407358532013ull, 5270841765314270279, 435597659150761978ull},
};

std::uint64_t fnv_of(const std::string& text) {
  std::uint64_t hash = 14'695'981'039'346'656'037ull;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ull;
  return hash;
}

const char* const kJsonOfAll =
    R"j({"description":"a\u0000b","labels":{"":"","k":"v"},"name":"n\"'\\\n🦄","namespace":"team",)j"
    R"j("owner":"me","rules":{"disconnect_grace_ms":23,"keep_logs_ms":-1,"keep_runs_ms":60000,)j"
    R"j("kill_grace_ms":19,"late":"skip","loss":"never","loss_most":21,"loss_then":"confirm",)j"
    R"j("overlap":"allow","pool":"gpu","queue_limit":7,"retry":{"count":4,"delay_ms":11,"factor":1.5,)j"
    R"j("max_delay_ms":13},"route":"named","schedule":{"cron":"0 0 7 ? * MON-FRI","dialect":"quartz",)j"
    R"j("end_ms":4398046511104,"fold":"both","gap":"skip","interval_ms":1234,"kind":"fixed_rate",)j"
    R"j("start_ms":-5,"time_zone":"Europe/Berlin"},"tick_grace_ms":9,"timeout_ms":17,"worker":"w9"},)j"
    R"j("work":{"argv":["","a b","c"],"environment":{"A":"1","B":""},"folder":"/srv/data",)j"
    R"j("handler":"report","interpreter":"/bin/bash","isolation":"process","keep_folder":"on_failure",)j"
    R"j("limits":{"address_space_bytes":2147483648,"core_bytes":8,"cpu_ms":5000,"file_size_bytes":6,)j"
    R"j("folder_bytes":7777,"memory_bytes":1073741824,"milli_cpus":250,"open_files":64,"processes":3},)j"
    R"j("nice":-3,"output_cap_bytes":17179869184,"parameters":{"P":"2"},"run_as":"deploy",)j"
    R"j("script":"echo one\necho two\n","umask":63}})j";

/// Only what programs of before wrote: keys that came later are left out of the structs.
nlohmann::json of_before(const nlohmann::json& now, const nlohmann::json& before) {
  auto out = nlohmann::json::object();
  for (const auto& [key, value] : now.items()) {
    if (!before.contains(key)) continue;
    const bool is_struct = key == "rules" || key == "work" || key == "schedule" || key == "retry" || key == "limits";
    out[key] = is_struct ? of_before(value, before.at(key)) : value;
  }
  return out;
}

std::string json_of_before(const model::JobDefinition& definition) {
  const auto now = nlohmann::json::parse(*wire::definition_to_json(definition));
  return of_before(now, nlohmann::json::parse(kJsonOfAll)).dump();
}

}  // namespace

TEST_CASE("definition: fingerprints, ids and JSON of before stay what they were") {
  const auto definitions = golden_definitions();
  REQUIRE(definitions.size() == std::size(kGolden));
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    const auto& [name, definition] = definitions[i];
    CAPTURE(kGolden[i].name);
    REQUIRE(kGolden[i].name == name);
    CHECK(master::core::definition_hash(definition) == kGolden[i].fingerprint);
    CHECK(wire::one_off_id(definition).value == kGolden[i].one_off);
    CHECK(fnv_of(json_of_before(definition)) == kGolden[i].json);
  }
}

TEST_CASE("definition: the stored JSON is readable both ways with programs of before") {
  const auto definitions = golden_definitions();
  const auto all = std::ranges::find(definitions, "all", &NamedDefinition::first);
  REQUIRE(all != definitions.end());
  CHECK(json_of_before(all->second) == kJsonOfAll);
  CHECK(*wire::definition_from_json(kJsonOfAll) == all->second);
}

TEST_CASE("definition: request hashes of before stay what they were") {
  CHECK(wire::submit_hash(plain_definition(), {}) == "1:73349ee05d44cb1cd828840c4c514c9e");
  CHECK(wire::submit_hash(plain_definition(), {{"k", "v"}}) == "1:46d59ab4a4d8863551870cab183572ce");
  CHECK(wire::run_now_hash("default", "nightly", {{"k", "v"}}) == "1:3e6e7eb659cb6db5c9a921e4958cfc47");
}

}  // namespace rota::testing
