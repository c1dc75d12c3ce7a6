#include "sim/run/ranks_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/run/scenario_fields.h"

namespace tidemark {
namespace {

/// The one that is asked for; std::nullopt: all, or nobody asked.
std::optional<std::int64_t> read_rank(yaml::Fields& map, RankChoice& choice) {
  const yaml::Node* node = map.get("rank");
  choice = node == nullptr ? RankChoice::kSome : RankChoice::kOne;
  if (node == nullptr || node->text != "all") return map.integer("rank");
  choice = RankChoice::kAll;
  return std::nullopt;
}

}  // namespace

void read_ranks(yaml::Fields& fields, Scenario& scenario, std::vector<Problem>& problems) {
  const yaml::Node* node = fields.get("ranks");
  if (node == nullptr) return;
  yaml::Fields map(*node, "ranks", problems, kRanksMap);
  map.require_all();
  constexpr std::int64_t kUsual = 8;
  const std::int64_t world = map.integer("world").value_or(1);
  const std::int64_t per_node = map.integer("per_node").value_or(std::min(world, kUsual));
  const std::optional<std::int64_t> one = read_rank(map, scenario.rank_choice);
  const std::int64_t rank = one.value_or(0);
  map.done();
  if (world % per_node != 0) {
    const yaml::Node* said = map.get("per_node");
    map.report(said != nullptr ? *said : *map.get("world"), said != nullptr ? "per_node" : "world",
               fmt::format("{} ranks are no whole number of machines of {}", world, per_node));
  } else if (rank >= world) {
    map.report(*map.get("rank"), "rank",
               fmt::format("the ranks of {} end at {}", world, world - 1));
  } else if (fields.get("device_count") != nullptr) {
    fields.report(*fields.get("device_count"), "device_count", "cannot stand beside ranks",
                  "a rank sees the GPUs of its machine: per_node");
  } else {
    scenario.rank = {static_cast<int>(rank), static_cast<int>(world), static_cast<int>(per_node)};
    scenario.device_count = per_node;
    // How far the others have come decides when a collective ends: taken as done when it is queued.
    scenario.policy = *parse_event_policy("ready");
  }
}

}  // namespace tidemark
