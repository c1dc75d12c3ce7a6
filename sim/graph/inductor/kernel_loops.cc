#include "sim/graph/inductor/kernel_loops.h"

#include <algorithm>
#include <map>
#include <vector>

namespace tidemark::graph::inductor {

namespace {

constexpr std::int64_t kMostInner = 1024;  // should_use_persistent_reduction
constexpr std::int64_t kMostOther = 64;

/// Runs through memory number by number.
bool is_contiguous(const Dependency& dependency) {
  if (dependency.is_whole || dependency.index.mark != 0) return false;
  const std::vector<Digit>& digits = dependency.index.digits;
  return digits.empty() || (digits.size() == 1 && digits[0].scale == 1 && digits[0].divisor == 1);
}

bool has_unit_stride(const Dependency& dependency) {
  if (dependency.is_whole || dependency.index.mark != 0 || dependency.sizes.empty()) return true;
  return stride_of(dependency.index, static_cast<int>(dependency.sizes.size()) - 1) == 1;
}

class KernelLoops {
 public:
  using Ancestors = std::function<const NumberSet&(std::uint32_t)>;

  KernelLoops(const Schedule& schedule, const Step& step, const Ancestors& ancestors)
      : s_(schedule), step_(step), ancestors_(ancestors) {}

  std::set<BufferId> run() {
    std::set<BufferId> kept;
    if (!step_.is_reduction || is_held_at_once()) return kept;
    for (const std::uint32_t op : step_.operations) {
      if (is_in_body(op)) {
        add_to_body(op);
      } else {
        end_loop();
        order_.push_back(static_cast<std::int64_t>(op));
        order_.push_back(kEnter);
      }
    }
    std::map<BufferId, std::size_t> written_in;
    std::size_t loop = 0;
    bool is_inside = true;
    for (const std::int64_t entry : order_) {
      if (entry == kLeave) ++loop;
      if (entry < 0) {
        is_inside = entry == kEnter;
        continue;
      }
      const auto op = static_cast<std::uint32_t>(entry);
      for (const Dependency& read : s_.nests[op].reads) {
        const auto written = written_in.find(read.buffer);
        if (written != written_in.end() && written->second < loop) kept.insert(read.buffer);
      }
      if (is_inside && !is_reduction(op)) written_in[s_.program.operations[op].output] = loop;
    }
    return kept;
  }

 private:
  static constexpr std::int64_t kEnter = -1;
  static constexpr std::int64_t kLeave = -2;

  [[nodiscard]] bool is_reduction(std::uint32_t op) const {
    return s_.program.operations[op].loops->is_reduction();
  }
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> group_of(std::uint32_t op) const {
    std::pair<std::int64_t, std::int64_t> group{1, 1};
    for (const std::int64_t size : s_.nests[op].sizes) group.first *= size;
    for (const std::int64_t size : s_.nests[op].reduced) group.second *= size;
    return group;
  }
  [[nodiscard]] bool is_in_body(std::uint32_t op) const {
    const auto group = group_of(op);
    return group == std::pair{step_.size, step_.reduced} ||
           group == std::pair<std::int64_t, std::int64_t>{step_.size * step_.reduced, 1};
  }

  /// Source: torch's SIMDKernelFeatures.get_reduction_hint.
  [[nodiscard]] Hint hint() const {
    std::set<Hint> hints;
    bool has_gaps = false;
    for (const std::uint32_t op : step_.operations) {
      const LoopNest& nest = s_.nests[op];
      std::vector<Dependency> places{nest.write.merged()};
      for (const Dependency& read : nest.reads) places.push_back(read.merged());
      if (is_reduction(op)) {
        const bool is_plain = std::all_of(places.begin(), places.end(), is_contiguous);
        hints.insert(is_plain ? Hint::kInner : s_.program.operations[op].loops->hint);
      } else if (group_of(op).first == step_.size * step_.reduced) {
        has_gaps = has_gaps || !std::all_of(places.begin(), places.end(), [](const auto& place) {
                     return is_contiguous(place) || has_unit_stride(place);
                   });
      }
    }
    if (hints.size() != 1) return Hint::kDefault;
    return *hints.begin() == Hint::kInner && has_gaps ? Hint::kDefault : *hints.begin();
  }
  [[nodiscard]] bool is_held_at_once() const {
    return step_.reduced <= (hint() == Hint::kInner ? kMostInner : kMostOther);
  }

  void end_loop() {
    if (!order_.empty() && order_.back() == kEnter) {
      order_.pop_back();
    } else {
      order_.push_back(kLeave);
    }
    if (split_ > 0) {
      const auto at = order_.begin() + static_cast<std::ptrdiff_t>(split_);
      order_.insert(at, {kLeave, kEnter});
      split_ = 0;
    }
    waiting_.clear();
    used_.clear();
  }

  void add_to_body(std::uint32_t op) {
    const NumberSet& before = ancestors_(op);
    const bool must_wait = std::any_of(waiting_.begin(), waiting_.end(),
                                       [&](std::uint32_t w) { return before.contains(w); });
    if (must_wait) {
      end_loop();
      order_.push_back(kEnter);
    }
    const std::vector<Dependency>& reads = s_.nests[op].reads;
    const bool reads_again = std::any_of(reads.begin(), reads.end(), [this](const auto& read) {
      return used_.count(read.buffer) > 0;
    });
    if (used_.empty() || reads_again) {
      split_ = 0;
    } else if (split_ == 0) {
      split_ = order_.size();
    }
    order_.push_back(static_cast<std::int64_t>(op));
    for (const Dependency& read : reads) used_.insert(read.buffer);
    if (is_reduction(op)) {
      waiting_.insert(op);
    } else {
      used_.insert(s_.program.operations[op].output);
    }
  }

  const Schedule& s_;
  const Step& step_;
  const Ancestors& ancestors_;
  std::vector<std::int64_t> order_;  ///< operations, and where a loop is left and entered
  std::set<std::uint32_t> waiting_;  ///< reductions that are done when the loop has ended
  std::set<BufferId> used_;          ///< in the loop
  std::size_t split_ = 0;            ///< where the loop had better be two; 0: nowhere
};

}  // namespace

std::set<BufferId> read_in_later_loops(
    const Schedule& schedule, const Step& step,
    const std::function<const NumberSet&(std::uint32_t)>& ancestors) {
  return KernelLoops(schedule, step, ancestors).run();
}

}  // namespace tidemark::graph::inductor
