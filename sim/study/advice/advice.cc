#include "sim/study/advice/advice.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "sim/base/parallel.h"
#include "sim/base/problem.h"
#include "sim/study/advice/fit.h"

namespace tidemark {
namespace {

constexpr std::size_t kMostInPairs = 6;       ///< remedies that are tried two by two
constexpr std::size_t kMostCombinations = 6;  ///< told of each kind
constexpr std::size_t kMostReaches = 6;       ///< changes of which it is told how far they go

/// A remedy and how far it is turned, or where it is applied.
struct Choice {
  const Remedy* remedy = nullptr;
  unsigned level = 1;
  friend bool operator==(const Choice&, const Choice&) = default;
  friend auto operator<=>(const Choice& a, const Choice& b) {
    return std::tuple(a.remedy, a.level) <=> std::tuple(b.remedy, b.level);
  }
};
using Choices = std::vector<Choice>;

/// Choices with what they came to.
struct Tried {
  Choices choices;
  AdvisedChange change;
};

class Adviser {
 public:
  Adviser(const ScenarioSource& source, const AdviceOptions& options)
      : source_(source), options_(options), scenario_(read_scenario(source)) {
    out_.device = scenario_.device.name;
    out_.total = scenario_.device.total_bytes;
    out_.context = scenario_.device.context_bytes;
    out_.headroom = headroom_bytes(out_.total, options.headroom_ppm);
  }

  Advice run() {
    out_.before = standing_of(source_, on_device(source_, &out_.basis, &source_.imported));
    out_.imported = source_.imported;
    if (!out_.before.error.empty()) {
      throw InputError(Problem{
          {}, source_.text->name, out_.before.error, "run it with `tidemark run` to see where"});
    }
    alone();
    together();
    sort_out();
    how_far();
    return std::move(out_);
  }

 private:
  /// A run on the device itself.
  struct OnDevice {
    Standing standing;
    bool fits = false;
    /// Whether it tells all: the need, too.
    [[nodiscard]] bool is_all() const {
      return !standing.error.empty() || (fits && standing.retries == 0);
    }
  };

  /// `basis` and `imported`, if not null, take what the run rests on and which files it read.
  OnDevice on_device(const ScenarioSource& source, RunBasis* basis = nullptr,
                     std::vector<std::string>* imported = nullptr) const {
    OnDevice out;
    Standing& standing = out.standing;
    const Trial trial = try_scenario(source, false, true);
    standing.error = trial.error;
    if (!standing.error.empty()) return out;
    if (basis != nullptr) *basis = trial.result;
    if (imported != nullptr) *imported = trial.result.own_files;
    const Bytes total = trial.result.devices.front().spec.total_bytes;
    out.fits = trial.fits();
    standing.meets = out.fits && trial.spare >= headroom_bytes(total, options_.headroom_ppm);
    standing.peak_reserved = standing.need = trial.peak_reserved;
    standing.spare = trial.spare;
    standing.retries = trial.retries;
    standing.end_ns = trial.end_ns;
    return out;
  }

  Standing standing_of(const ScenarioSource& source, const OnDevice& run) const {
    Standing standing = run.standing;
    if (run.is_all()) return standing;
    const Trial roomy = try_scenario(with_room(source), false, true);
    if (!roomy.fits()) {
      standing.error = roomy.error.empty() ? "more than 4 TiB are asked for" : roomy.error;
      return standing;
    }
    standing.need = roomy.peak_reserved;
    if (!run.fits) standing.end_ns = roomy.end_ns;
    return standing;
  }

  AdvisedChange judged(Combination combination, const OnDevice& run) const {
    AdvisedChange change;
    change.standing = standing_of(changed(source_, combination.change), run);
    static_cast<Combination&>(change) = std::move(combination);
    if (!change.standing.error.empty()) return change;
    change.saved_bytes = static_cast<std::int64_t>(out_.before.need) -
                         static_cast<std::int64_t>(change.standing.need);
    change.time_cost_ns = change.standing.end_ns - out_.before.end_ns;
    return change;
  }

  /// The remedies' changes one on top of the other; std::nullopt: one does not apply to what those
  /// before it left.
  std::optional<Combination> combined(const Choices& choices) const {
    Combination all;
    for (const Choice& choice : choices) {
      const ScenarioSource now = changed(source_, all.change);
      std::optional<Change> change;
      try {
        change = choice.remedy->change(now, read_scenario(now), choice.level);
      } catch (const InputError&) {
        return std::nullopt;
      }
      if (!change) return std::nullopt;
      all.add(*choice.remedy, *change);
    }
    return all;
  }

  /// In the order of the table; places of one remedy from the last to the first.
  static Choices in_order(Choices choices) {
    std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
      return a.remedy == b.remedy ? a.level > b.level : a.remedy < b.remedy;
    });
    return choices;
  }

  /// What is kept of a set of choices; std::nullopt: nothing yet.
  template <class Known>
  std::optional<Known> find(const std::map<Choices, Known>& among, const Choices& choices) const {
    const std::lock_guard lock(known_lock_);
    const auto found = among.find(choices);
    return found == among.end() ? std::nullopt : std::optional<Known>(found->second);
  }

  /// The run of choices, made once. Requires: they are in order, `all` is what they come to.
  OnDevice run_of(const Choices& choices, const Combination& all) const {
    if (std::optional<OnDevice> known = find(runs_, choices)) return std::move(*known);
    OnDevice run = on_device(changed(source_, all.change));
    const std::lock_guard lock(known_lock_);
    return runs_.emplace(choices, std::move(run)).first->second;
  }

  /// Whether the choices together meet the goal, by one run.
  bool meets_goal(const Choices& choices) const {
    const Choices ordered = in_order(choices);
    if (const std::optional<OnDevice> known = find(runs_, ordered)) return known->standing.meets;
    const std::optional<Combination> all = combined(ordered);
    return all && run_of(ordered, *all).standing.meets;
  }

  std::optional<Tried> tried(Choices choices) const {
    choices = in_order(std::move(choices));
    if (std::optional<Tried> known = find(tried_, choices)) return known;
    std::optional<Combination> all = combined(choices);
    if (!all) return std::nullopt;
    const OnDevice run = run_of(choices, *all);
    Tried out{choices, judged(std::move(*all), run)};
    const std::lock_guard lock(known_lock_);
    tried_.emplace(std::move(choices), out);
    return out;
  }

  /// Every remedy by itself, turned as far as it must be.
  void alone() {
    const std::span<const Remedy> all = remedies();
    std::vector<std::vector<Tried>> found(all.size());
    in_parallel(all.size(), options_.threads, [&](std::size_t i) {
      if (all[i].price <= options_.dearest) found[i] = alone(all[i]);
    });
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].price > options_.dearest) continue;
      if (found[i].empty()) out_.not_for.push_back(&all[i]);
      for (Tried& one : found[i]) singles_.push_back(std::move(one));
    }
  }

  std::vector<Tried> alone(const Remedy& remedy) const {
    std::vector<Tried> found;
    if (out_.before.meets && remedy.price == Price::kMachine) return found;
    for (unsigned level = 1; level <= remedy.levels; ++level) {
      std::optional<Tried> one = tried({{&remedy, level}});
      if (!one) continue;
      const bool is_enough = one->change.standing.meets;
      if (remedy.kind == Levels::kWays) {
        const bool can_be_run = one->change.standing.error.empty();
        if (can_be_run) found.clear();
        if (found.empty())
          found.push_back(std::move(*one));  // of those that fail the first says why
        if (can_be_run) break;
        continue;
      }
      // Turned as far as it goes.
      if (remedy.kind == Levels::kDegrees && !found.empty() && one->change.standing.error.empty() &&
          one->change.standing.need == found.back().change.standing.need && !is_enough)
        break;
      if (remedy.kind == Levels::kDegrees) found.clear();
      found.push_back(std::move(*one));
      if (remedy.kind == Levels::kDegrees && is_enough) {
        if (!out_.before.meets && !remedy.quantity.empty()) refine(remedy, found.back());
        break;
      }
    }
    // Where two places keep the same memory alive only both help.
    Choices places;
    places.reserve(found.size());
    for (const Tried& one : found) places.push_back(one.choices.front());
    if (remedy.kind == Levels::kPlaces && places.size() > 1) {
      if (auto all = tried(std::move(places))) found.push_back(std::move(*all));
    }
    return found;
  }

  /// Degrees overshoot: the largest value of the quantity that meets the goal. A script may have
  /// none by that name.
  void refine(const Remedy& remedy, Tried& one) const {
    const std::optional<Quantity> now = find_quantity(source_, remedy.quantity);
    if (!now) return;
    FitOptions options;
    options.over = remedy.quantity;
    options.headroom_ppm = options_.headroom_ppm;
    options.highest = now->value - 1;
    const FitResult result = fit(source_, options);
    if (!result.best) return;
    Combination exact;
    exact.add(remedy, quantity_change(remedy.quantity, *now, *result.best));
    const OnDevice run = on_device(changed(source_, exact.change));
    AdvisedChange change = judged(std::move(exact), run);
    if (change.standing.meets) one.change = std::move(change);
  }

  static bool helps(const Tried& one) {
    return one.change.standing.error.empty() && one.change.saved_bytes > 0;
  }

  void together() {
    std::vector<const Tried*> parts;
    for (const Tried& one : singles_) {
      if (helps(one) && one.change.price < Price::kTraining) parts.push_back(&one);
    }
    pairs(parts);
    for (const Price price : {Price::kNothing, Price::kTime, Price::kNumbers}) {
      if (price <= options_.dearest) all_up_to(price, parts);
    }
    with_training(parts);
  }

  /// Each change of the training with what it needs beside it of all that is cheaper.
  void with_training(const std::vector<const Tried*>& parts) {
    if (out_.before.meets || options_.dearest < Price::kTraining) return;
    std::vector<const Tried*> trainings;
    for (const Tried& one : singles_) {
      if (helps(one) && one.change.price == Price::kTraining && !one.change.standing.meets)
        trainings.push_back(&one);
    }
    std::vector<std::optional<Tried>> found(trainings.size());
    in_parallel(trainings.size(), options_.threads, [&](std::size_t i) {
      Choices all = compatible(trainings[i]->choices, parts);
      if (all.size() > 1) found[i] = lightened(std::move(all), trainings[i]->choices);
    });
    for (std::optional<Tried>& one : found) {
      if (one) keep(std::move(*one));
    }
  }

  /// The choices, and of the others all that can be made on top: those that save most first.
  Choices compatible(Choices choices, std::vector<const Tried*> others) const {
    std::stable_sort(others.begin(), others.end(), [](const Tried* a, const Tried* b) {
      return a->change.saved_bytes > b->change.saved_bytes;
    });
    for (const Tried* other : others) {
      Choices more = united(choices, other->choices);
      const std::optional<Combination> all = combined(in_order(more));
      if (!all) continue;
      try {
        read_scenario(changed(source_, all->change));
      } catch (const InputError&) {
        continue;
      }
      choices = std::move(more);
    }
    return choices;
  }

  void pairs(std::vector<const Tried*> parts) {
    std::stable_sort(parts.begin(), parts.end(), [](const Tried* a, const Tried* b) {
      return a->change.saved_bytes > b->change.saved_bytes;
    });
    if (parts.size() > kMostInPairs) parts.resize(kMostInPairs);
    std::vector<Choices> both;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::size_t j = i + 1; j < parts.size(); ++j)
        both.push_back(united(parts[i]->choices, parts[j]->choices));
    }
    std::vector<std::optional<Tried>> found(both.size());
    in_parallel(both.size(), options_.threads,
                [&](std::size_t i) { found[i] = lightened(std::move(both[i])); });
    for (std::optional<Tried>& one : found) {
      if (one) keep(std::move(*one));
    }
  }

  static Choices united(Choices all, const Choices& more) {
    for (const Choice& choice : more) {
      if (std::find(all.begin(), all.end(), choice) == all.end()) all.push_back(choice);
    }
    return all;
  }

  /// All that helps and costs no more than `price`.
  void all_up_to(Price price, const std::vector<const Tried*>& parts) {
    std::vector<const Tried*> cheap;
    for (const Tried* one : parts) {
      if (one->change.price <= price) cheap.push_back(one);
    }
    Choices choices = compatible({}, std::move(cheap));
    if (choices.size() < 2) return;
    if (std::optional<Tried> all = lightened(std::move(choices))) keep(std::move(*all));
  }

  /// The choices together; where that is enough for the goal, without what is not needed and turned
  /// no further than is needed, the dearest looked at first. Those `kept` stay.
  std::optional<Tried> lightened(Choices choices, const Choices& kept = {}) const {
    std::optional<Tried> all = tried(choices);
    if (!all || !all->change.standing.meets || out_.before.meets) return all;
    std::stable_sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
      return a.remedy->price > b.remedy->price;
    });
    const auto is_enough = [&](const Choices& lighter) {
      if (!meets_goal(lighter)) return false;
      choices = lighter;
      return true;
    };
    for (std::size_t i = 0; i < choices.size();) {
      if (std::find(kept.begin(), kept.end(), choices[i]) != kept.end()) {
        ++i;
        continue;
      }
      Choices lighter = choices;
      lighter.erase(lighter.begin() + static_cast<std::ptrdiff_t>(i));
      if (!lighter.empty() && is_enough(lighter)) continue;
      do {
        lighter = choices;
        --lighter[i].level;
      } while (choices[i].remedy->kind == Levels::kDegrees && choices[i].level > 1 &&
               is_enough(lighter));
      ++i;
    }
    return tried(std::move(choices));
  }

  /// Combinations that add something to their parts, each once.
  void keep(Tried one) {
    const bool is_enough = one.change.standing.meets && !out_.before.meets;
    if (!one.change.standing.error.empty() || !known_.insert(one.choices).second) return;
    for (const Tried& part : singles_) {
      const bool is_part =
          std::all_of(part.choices.begin(), part.choices.end(), [&](const Choice& choice) {
            return std::find(one.choices.begin(), one.choices.end(), choice) != one.choices.end();
          });
      if (!is_part) continue;
      if (is_enough ? part.change.standing.meets
                    : part.change.saved_bytes >= one.change.saved_bytes)
        return;
    }
    combinations_.push_back(std::move(one));
  }

  /// Whether a combination that meets the goal has another in it that does so too.
  bool has_more_than_needed(const Tried& one) const {
    if (out_.before.meets || !one.change.standing.meets) return false;
    return std::any_of(combinations_.begin(), combinations_.end(), [&](const Tried& other) {
      return other.change.standing.meets && other.choices.size() < one.choices.size() &&
             std::all_of(other.choices.begin(), other.choices.end(), [&](const Choice& choice) {
               return std::find(one.choices.begin(), one.choices.end(), choice) !=
                      one.choices.end();
             });
    });
  }

  void sort_out() {
    std::vector<Tried> needed;
    for (const Tried& one : combinations_) {
      if (!has_more_than_needed(one)) needed.push_back(one);
    }
    combinations_ = std::move(needed);
    std::vector<AdvisedChange> more[2];  // combinations that do not and do meet the goal
    for (Tried& one : combinations_)
      more[one.change.standing.meets ? 1 : 0].push_back(std::move(one.change));
    for (Tried& one : singles_) {
      const bool meets = one.change.standing.meets && (!out_.before.meets || helps(one));
      (meets        ? out_.meeting
       : helps(one) ? out_.saving
                    : out_.useless)
          .push_back(std::move(one.change));
    }
    rank_meeting(more[1]);
    rank_saving(more[0]);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      std::array<std::size_t, 2> told{};  // of the same training, and of another
      std::erase_if(more[i], [&](const AdvisedChange& change) {
        return ++told[change.price < Price::kTraining ? 0 : 1] > kMostCombinations;
      });
      std::vector<AdvisedChange>& into = i == 1 ? out_.meeting : out_.saving;
      std::move(more[i].begin(), more[i].end(), std::back_inserter(into));
    }
    rank_meeting(out_.meeting);
    rank_saving(out_.saving);
  }

  void rank_meeting(std::vector<AdvisedChange>& changes) const {
    const std::int64_t percent = std::max<std::int64_t>(1, out_.before.end_ns / 100);
    const auto rank = [&](const AdvisedChange& change) {
      // Where there is a goal to meet memory saved beyond it is worth nothing.
      const std::int64_t saved = out_.before.meets ? change.saved_bytes : 0;
      const std::int64_t percents = std::max<std::int64_t>(0, change.time_cost_ns / percent);
      const bool has_little = change.standing.spare * 20 < out_.total;
      return std::tuple(change.price, has_little, -saved, percents, change.remedies.size(),
                        change.time_cost_ns, change.standing.need);
    };
    std::stable_sort(changes.begin(), changes.end(),
                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  }

  static void rank_saving(std::vector<AdvisedChange>& changes) {
    std::stable_sort(changes.begin(), changes.end(),
                     [](const auto& a, const auto& b) { return a.saved_bytes > b.saved_bytes; });
  }

  void how_far() {
    if (options_.over.empty()) return;
    const auto reach = [&](const ScenarioSource& source) -> std::optional<std::int64_t> {
      FitOptions options;
      options.over = options_.over;
      options.headroom_ppm = options_.headroom_ppm;
      return fit(source, options).best;
    };
    out_.reaches = reach(source_);
    const std::size_t count = std::min(out_.meeting.size(), kMostReaches);
    in_parallel(count, options_.threads, [&](std::size_t i) {
      out_.meeting[i].reaches = reach(changed(source_, out_.meeting[i].change));
    });
  }

  ScenarioSource source_;
  const AdviceOptions& options_;
  Scenario scenario_;
  Advice out_;
  std::vector<Tried> singles_;  ///< one remedy each, perhaps in all its places
  std::vector<Tried> combinations_;
  std::set<Choices> known_;
  mutable std::mutex known_lock_;  ///< of both that follow
  mutable std::map<Choices, OnDevice> runs_;
  mutable std::map<Choices, Tried> tried_;
};

}  // namespace

namespace {

/// Of a process with room for all: what fully_shard would share, and what it would not.
std::optional<GpuEstimate> estimated_gpus(const ScenarioSource& source, Bytes usable) {
  const Trial roomy = try_scenario(with_room(source), true);
  if (!roomy.fits() || roomy.result.devices.size() != 1) return std::nullopt;
  const PeakResult& peak = roomy.result.devices.front().peak_allocated;
  GpuEstimate estimate;
  for (const Category category :
       {Category::kParameter, Category::kGradient, Category::kOptimizerState})
    estimate.shared += peak.by_category[static_cast<std::size_t>(category)];
  // What the cache holds beside them stays with each.
  estimate.rest = roomy.peak_reserved - std::min(roomy.peak_reserved, estimate.shared);
  if (estimate.shared == 0 || estimate.rest >= usable) return estimate;
  const Bytes room = usable - estimate.rest;
  estimate.gpus = static_cast<std::int64_t>((estimate.shared + room - 1) / room);
  return estimate;
}

}  // namespace

Advice advise(const ScenarioSource& source, const AdviceOptions& options) {
  Advice advice = Adviser(source, options).run();
  const auto is_sharding = [](const Remedy* remedy) { return remedy->id == "shard"; };
  if (advice.before.meets || !advice.meeting.empty() || !advice.before.error.empty() ||
      options.dearest < Price::kMachine || std::ranges::none_of(advice.not_for, is_sharding) ||
      read_scenario(source).rank)
    return advice;
  const Bytes taken = advice.context + advice.headroom;
  advice.gpus = estimated_gpus(source, advice.total - std::min(advice.total, taken));
  return advice;
}

}  // namespace tidemark
