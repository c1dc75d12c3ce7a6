#include "sim/study/advice/tune.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/alloc/knob_values.h"
#include "sim/alloc/settings_parser.h"
#include "sim/base/parallel.h"
#include "sim/base/problem.h"
#include "sim/study/advice/orders.h"

namespace tidemark {
namespace {

/// How many of the grid's best are played in every order.
constexpr std::size_t kFinalists = 12;
constexpr int kMostRounds = 6;

/// One key of PYTORCH_ALLOC_CONF that is searched. Value 0: not set.
struct Knob {
  std::string_view key;
  std::span<const int> grid;  ///< values of the first search
  std::span<const int> fine;  ///< all that are looked at; ascending
  bool is_percent = false;    ///< written as a fraction: 80 is 0.8
  bool needs_limit = false;   ///< without effect where the whole device may be taken
};
constexpr int kTruth[] = {0, 1};
constexpr int kDivisions[] = {0, 2, 4, 8, 16};
constexpr int kFineDivisions[] = {0, 1, 2, 4, 8, 16, 32, 64};
constexpr int kSplit[] = {0, 64, 128, 256, 512};
constexpr int kFineSplit[] = {0,   21,  24,  32,  40,  48,  64,  80,   96,   128, 160,
                              192, 256, 320, 384, 512, 640, 768, 1024, 1536, 2048};
constexpr int kSegment[] = {0, 64};
constexpr int kFineSegment[] = {0, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512};
constexpr int kRounding[] = {0};
constexpr int kFineRounding[] = {0, 21, 32, 64, 128, 256, 512, 1024};
constexpr int kCollection[] = {0, 80};
constexpr int kFineCollection[] = {0, 50, 60, 70, 80, 90, 95};
constexpr std::array<Knob, 6> kKnobs{
    {{"expandable_segments", kTruth, kTruth},
     {"roundup_power2_divisions", kDivisions, kFineDivisions},
     {"max_split_size_mb", kSplit, kFineSplit},
     {"large_segment_size_mb", kSegment, kFineSegment},
     {"max_non_split_rounding_mb", kRounding, kFineRounding},
     {"garbage_collection_threshold", kCollection, kFineCollection, true, true}}};
using Point = std::array<int, kKnobs.size()>;

/// The parts of a text at its commas, those in brackets left whole.
std::vector<std::string> parts_of(std::string_view conf) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : conf) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.push_back(std::exchange(part, {}));
    } else {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

bool is_searched(std::string_view part) {
  return std::any_of(kKnobs.begin(), kKnobs.end(), [&](const Knob& knob) {
    return part.starts_with(knob.key) && part.substr(knob.key.size()).starts_with(':');
  });
}

class Tuner {
 public:
  Tuner(const TuneWorkload& workload, unsigned threads) : workload_(workload), threads_(threads) {
    for (const std::string& part : parts_of(workload.given.text)) {
      if (!is_searched(part)) kept_ += (kept_.empty() ? "" : ",") + part;
    }
  }

  TuneResult run() {
    search_grid();
    play_in_all(finalists());
    TunedSetting given;
    given.settings = workload_.given;
    for (const std::string& part : parts_of(workload_.given.text))
      given.keys += is_searched(part) ? 1U : 0U;
    given.by_order.resize(workload_.orders.size());
    in_parallel(given.by_order.size(), threads_, [&](std::size_t i) {
      given.by_order[i] = workload_.orders[i].play(given.settings);
    });
    refine();
    return result(std::move(given));
  }

 private:
  /// std::nullopt: this release refuses it.
  std::optional<AllocatorSettings> settings_at(const Point& point) const {
    std::string conf = kept_;
    for (std::size_t i = 0; i < kKnobs.size(); ++i) {
      if (point[i] == 0) continue;
      if (!conf.empty()) conf += ',';
      conf += kKnobs[i].key;
      if (kKnobs[i].fine.size() == 2) {
        conf += ":True";
      } else if (kKnobs[i].is_percent) {
        conf += fmt::format(":0.{}", point[i] % 10 == 0 ? point[i] / 10 : point[i]);
      } else {
        conf += fmt::format(":{}", point[i]);
      }
    }
    try {
      AllocatorSettings settings = parse_settings("tune", conf, workload_.given.version).settings;
      return settings;
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  void search_grid() {
    std::vector<Point> points{Point{}};
    for (std::size_t i = 0; i < kKnobs.size(); ++i) {
      if (kKnobs[i].needs_limit && !workload_.has_limit) continue;
      std::vector<Point> more;
      for (const Point& point : points) {
        for (const int value : kKnobs[i].grid) {
          more.push_back(point);
          more.back()[i] = value;
        }
      }
      points = std::move(more);
    }
    std::vector<AllocatorSettings> settings;
    for (const Point& point : points) {
      if (auto one = settings_at(point)) {
        grid_.push_back({point, {}});
        settings.push_back(std::move(*one));
      }
    }
    in_parallel(grid_.size(), threads_, [&](std::size_t i) {
      grid_[i].second = workload_.orders.front().play(settings[i]);
    });
    tried_ += grid_.size();
    std::stable_sort(grid_.begin(), grid_.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const std::pair<Point, PlayFigures>& one) {
        return std::tuple(one.second.ooms, one.second.peak_reserved, keys_of(one.first),
                          one.second.device_call_ns);
      };
      return rank(a) < rank(b);
    });
  }

  static std::size_t keys_of(const Point& point) {
    return static_cast<std::size_t>(
        std::count_if(point.begin(), point.end(), [](int value) { return value != 0; }));
  }

  /// The grid's best, and the best of those with one key alone.
  std::vector<Point> finalists() const {
    std::vector<Point> points;
    std::vector<std::size_t> alone(kKnobs.size() + 1);
    for (const auto& [point, figures] : grid_) {
      bool is_first_alone = false;
      if (keys_of(point) <= 1) {
        const auto key = static_cast<std::size_t>(
            std::find_if(point.begin(), point.end(), [](int value) { return value != 0; }) -
            point.begin());
        is_first_alone = alone[key]++ == 0;
      }
      if (points.size() < kFinalists || is_first_alone) points.push_back(point);
    }
    return points;
  }

  void play_in_all(const std::vector<Point>& points) {
    std::vector<std::pair<Point, TunedSetting>> rows;
    for (const Point& point : points) {
      if (played_.contains(point)) continue;
      std::optional<AllocatorSettings> settings = settings_at(point);
      if (!settings) continue;
      TunedSetting row;
      row.settings = std::move(*settings);
      row.keys = keys_of(point);
      row.by_order.resize(workload_.orders.size());
      rows.emplace_back(point, std::move(row));
    }
    const std::size_t orders = workload_.orders.size();
    in_parallel(rows.size() * orders, threads_, [&](std::size_t i) {
      TunedSetting& row = rows[i / orders].second;
      row.by_order[i % orders] = workload_.orders[i % orders].play(row.settings);
    });
    for (auto& played : rows) {
      const bool is_new = std::none_of(grid_.begin(), grid_.end(),
                                       [&](const auto& one) { return one.first == played.first; });
      tried_ += is_new ? 1U : 0U;
      played_.emplace(std::move(played));
    }
  }

  static auto rank(const TunedSetting& row) {
    Wide sum = 0;
    for (const PlayFigures& figures : row.by_order) sum += figures.peak_reserved;
    return std::tuple(row.ooms(), row.worst_reserved(), sum, row.by_order.front().device_call_ns,
                      row.keys);
  }

  [[nodiscard]] const Point& best() const {
    const Point* best = nullptr;
    for (const auto& [point, row] : played_) {
      if (best == nullptr || rank(row) < rank(played_.at(*best))) best = &point;
    }
    return *best;
  }

  /// One key at a time to its neighbours, in every order.
  void refine() {
    for (int round = 0; round < kMostRounds; ++round) {
      const Point from = best();
      std::vector<Point> near;
      for (std::size_t i = 0; i < kKnobs.size(); ++i) {
        if (kKnobs[i].needs_limit && !workload_.has_limit) continue;
        const std::span<const int> fine = kKnobs[i].fine;
        const auto at = std::lower_bound(fine.begin(), fine.end(), from[i]) - fine.begin();
        for (const std::ptrdiff_t step : {-2, -1, 1, 2}) {
          const std::ptrdiff_t to = at + step;
          if (to < 0 || to >= static_cast<std::ptrdiff_t>(fine.size())) continue;
          near.push_back(from);
          near.back()[i] = fine[static_cast<std::size_t>(to)];
        }
        near.push_back(from);
        near.back()[i] = 0;
      }
      play_in_all(near);
      if (best() == from) return;
    }
  }

  /// Settings with a key that changes nothing: another with fewer does the same in every order.
  static void leave_out_idle(std::vector<TunedSetting>& rows, const std::string& given_text) {
    std::vector<TunedSetting> kept;
    for (const TunedSetting& row : rows) {
      const bool is_idle = std::any_of(rows.begin(), rows.end(), [&](const TunedSetting& other) {
        return other.keys < row.keys && other.by_order == row.by_order;
      });
      if (!is_idle || row.settings.text == given_text) kept.push_back(row);
    }
    rows = std::move(kept);
  }

  TuneResult result(TunedSetting given) {
    TuneResult out;
    for (const TuneOrder& order : workload_.orders) out.orders.push_back(order.name);
    const std::string given_text = given.settings.text;
    bool has_given = false;
    for (auto& [point, row] : played_) {
      has_given = has_given || row.settings.text == given_text;
      out.settings.push_back(std::move(row));
    }
    if (!has_given) {
      out.settings.push_back(std::move(given));
      ++tried_;
    }
    std::stable_sort(out.settings.begin(), out.settings.end(),
                     [](const auto& a, const auto& b) { return rank(a) < rank(b); });
    leave_out_idle(out.settings, given_text);
    out.tried = tried_;
    const TunedSetting& first = out.settings.front();
    const Bytes enough = first.worst_reserved() + first.worst_reserved() / 100;
    for (std::size_t i = 0; i < out.settings.size(); ++i) {
      const TunedSetting& row = out.settings[i];
      const bool is_as_good = row.ooms() == first.ooms() && row.worst_reserved() <= enough;
      if (is_as_good && row.keys < out.settings[out.best].keys) out.best = i;
      if (row.settings.text == given_text) out.given = i;
    }
    AllocatorSettings ideal = workload_.given;
    ideal.backend = Backend::kIdeal;
    std::vector<Bytes> least(workload_.orders.size());
    in_parallel(least.size(), threads_,
                [&](std::size_t i) { least[i] = workload_.orders[i].play(ideal).peak_reserved; });
    out.least = *std::max_element(least.begin(), least.end());
    return out;
  }

  const TuneWorkload& workload_;
  unsigned threads_;
  std::string kept_;                                 ///< what the given setting says of other keys
  std::vector<std::pair<Point, PlayFigures>> grid_;  ///< best first
  std::map<Point, TunedSetting> played_;             ///< in every order
  std::size_t tried_ = 0;
};

/// The same allocator on a device that refuses nothing.
ReplayOptions with_room(ReplayOptions options) {
  options.device.total_bytes = kRoomyBytes;
  options.memory_fraction.reset();
  return options;
}

/// Errors: InputError.
void require_native(const AllocatorSettings& given) {
  if (given.backend == Backend::kNative) return;
  throw InputError(Problem{{},
                           "allocator.backend",
                           "only PyTorch's own caching allocator has settings to tune",
                           "leave the backend out"});
}

bool has_limit(const AllocatorSettings& settings, const std::optional<double>& fraction) {
  return settings.knobs->per_process_memory_fraction < 1 || fraction.value_or(1) < 1;
}

}  // namespace

std::int64_t TunedSetting::ooms() const {
  std::int64_t sum = 0;
  for (const PlayFigures& figures : by_order) sum += figures.ooms;
  return sum;
}

std::size_t TunedSetting::worst() const {
  return static_cast<std::size_t>(std::max_element(by_order.begin(), by_order.end(),
                                                   [](const PlayFigures& a, const PlayFigures& b) {
                                                     return a.peak_reserved < b.peak_reserved;
                                                   }) -
                                  by_order.begin());
}

TuneWorkload tune_workload(const ScenarioSource& source, unsigned shuffles) {
  const Scenario scenario = read_scenario(source);
  require_native(scenario.settings);
  TuneWorkload workload;
  workload.given = scenario.settings;
  workload.has_limit = has_limit(scenario.settings, scenario.memory_fraction);
  for (StepOrder& order : step_orders(source, shuffles)) {
    const auto player =
        std::make_shared<const ProgramPlayer>(read_scenario(overridden(source, order.overrides)));
    if (workload.orders.empty()) workload.basis = player->basis();
    workload.orders.push_back(
        {std::move(order.name), [player](const AllocatorSettings& s) { return player->play(s); },
         [player](const AllocatorSettings& s) { return player->play(s, kRoomyBytes); }});
  }
  return workload;
}

TuneWorkload tune_workload(std::span<const Instruction> instructions,
                           const AllocatorSettings& given, const ReplayOptions& options) {
  require_native(given);
  TuneWorkload workload;
  workload.given = given;
  workload.has_limit = has_limit(given, options.memory_fraction);
  const auto player = [instructions](const ReplayOptions& on) {
    return [instructions, on](const AllocatorSettings& settings) {
      return figures_of(replay(instructions, settings, on).summary);
    };
  };
  workload.orders.push_back({"as recorded", player(options), player(with_room(options))});
  return workload;
}

TuneResult tune(const TuneWorkload& workload, unsigned threads) {
  TuneResult result = Tuner(workload, threads).run();
  if (result.settings[result.best].ooms() == 0) return result;
  // Where a request is refused, what follows it is not the program any more: its peaks say nothing.
  TuneWorkload roomy = workload;
  for (TuneOrder& order : roomy.orders) order.play = order.play_with_room;
  result = Tuner(roomy, threads).run();
  result.is_refused = true;
  return result;
}

std::string environment_line(const AllocatorSettings& settings) {
  const bool is_old = settings.version < Version{2, 10};
  return fmt::format("{}={}\n", is_old ? "PYTORCH_CUDA_ALLOC_CONF" : "PYTORCH_ALLOC_CONF",
                     settings.text);
}

}  // namespace tidemark
