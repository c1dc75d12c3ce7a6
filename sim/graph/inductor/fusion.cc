// Which operations share a kernel. Source: docs/rules/compile.md#6.

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "sim/graph/inductor/schedule.h"
#include "sim/ops/tensor.h"

namespace tidemark::graph::inductor {

namespace {

constexpr std::size_t kMostOperations = 64;  // max_fusion_size
constexpr std::size_t kMostNeighbours = 64;  // max_fusion_buffer_group_pairwise_attempts
constexpr std::size_t kMostDistance = 64;
constexpr std::int64_t kLeastShared = 10;  // score_fusion_memory_threshold
constexpr int kMostRounds = 10;

bool contains(const std::vector<Dependency>& list, const Dependency& wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

}  // namespace

/// Fuses the steps of a schedule in rounds.
class Fusion {
 public:
  explicit Fusion(Schedule& schedule) : s_(schedule) {
    for (Step& step : s_.steps) nodes_.push_back(std::make_shared<Step>(std::move(step)));
  }

  void run() {
    for (int round = 0; round < kMostRounds; ++round) {
      const std::size_t before = nodes_.size();
      fuse_once(false);
      if (nodes_.size() == before || nodes_.size() == 1) break;
    }
    fuse_once(true);
    s_.steps.clear();
    for (const auto& node : nodes_) s_.steps.push_back(std::move(*node));
  }

 private:
  using Node = std::shared_ptr<Step>;
  using Score = std::tuple<bool, std::int64_t, std::int64_t>;

  [[nodiscard]] std::int64_t bytes_of(const Dependency& dependency) const {
    const Buffer& buffer = s_.program.buffers[dependency.buffer];
    const auto element = static_cast<std::int64_t>(ops::element_bytes(buffer.dtype));
    const bool is_anywhere = dependency.is_whole || dependency.index.mark != 0;
    if (is_anywhere) return product(buffer.sizes) * element;
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < dependency.sizes.size(); ++i) {
      if (reads_loop(dependency.index, static_cast<int>(i))) elements *= dependency.sizes[i];
    }
    return elements * element;
  }

  /// Bytes that both read or write alike.
  [[nodiscard]] std::int64_t shared(const Step& a, const Step& b) const {
    std::int64_t bytes = 0;
    const auto count = [&](const std::vector<Dependency>& list,
                           const std::vector<Dependency>* but) {
      for (const Dependency& dependency : list) {
        if (but != nullptr && contains(*but, dependency)) continue;
        if (contains(b.reads, dependency) || contains(b.writes, dependency))
          bytes += bytes_of(dependency);
      }
    };
    count(a.reads, nullptr);
    count(a.writes, &a.reads);
    return bytes;
  }

  [[nodiscard]] static bool depends(const Step& later, const Step& earlier) {
    return std::any_of(earlier.operations.begin(), earlier.operations.end(),
                       [&](std::uint32_t op) { return later.ancestors.contains(op); });
  }

  /// By how much two share once the loops of one are run in the other's order; -1: they do not fit.
  std::int64_t shared_reordered(Step& a, Step& b) {
    std::optional<std::pair<Dependency, Dependency>> best;
    std::int64_t most = -1;
    const auto last_of = [](const Step& step, BufferId buffer) -> const Dependency* {
      const Dependency* found = nullptr;
      for (const auto* list : {&step.reads, &step.writes}) {
        for (const Dependency& dependency : *list) {
          if (dependency.buffer == buffer) found = &dependency;
        }
      }
      return found;
    };
    std::set<BufferId> seen;
    for (const auto* list : {&a.reads, &a.writes}) {
      for (const Dependency& dependency : *list) {
        if (!seen.insert(dependency.buffer).second) continue;
        const Dependency* left = last_of(a, dependency.buffer);
        const Dependency* right = last_of(b, dependency.buffer);
        if (right == nullptr || left->is_whole || right->is_whole) continue;
        if (!(left->in_order() == right->in_order())) continue;
        const std::int64_t bytes = bytes_of(*left);
        if (bytes > most) {
          most = bytes;
          best = {*left, *right};
        }
      }
    }
    if (!best) return -1;
    const auto& [left, right] = *best;
    if (left.sizes.size() != right.sizes.size())
      return left.merged() == right.merged() ? bytes_of(left) : -1;
    bool is_reordered = false;
    if (!a.is_reduction) {
      is_reordered = reorder(a, left, right);
    } else if (!b.is_reduction) {
      is_reordered = reorder(b, right, left);
    }
    return is_reordered ? shared(a, b) : -1;
  }

  /// Whether a stride of what is read is made of an open size. Source: torch's MemoryDep,
  /// decide_loop_order_to_match, which counts all symbols of an index.
  [[nodiscard]] bool hangs_on_open(const Dependency& dependency) const {
    if (s_.open_lengths.empty()) return false;
    if (s_.has_open_images) return true;
    const auto is_open = [this](std::int64_t size) {
      return std::find(s_.open_lengths.begin(), s_.open_lengths.end(), size) !=
             s_.open_lengths.end();
    };
    // So far on a step along an open dimension gets in all: of the memory, or of other loops.
    std::vector<std::int64_t> spans;
    const Buffer& buffer = s_.program.buffers[dependency.buffer];
    for (std::size_t dim = 1; dim < buffer.sizes.size(); ++dim) {
      if (is_open(buffer.sizes[dim])) spans.push_back(buffer.strides[dim] * buffer.sizes[dim]);
    }
    std::vector<std::int64_t> strides;
    for (std::size_t loop = 0; loop < dependency.sizes.size(); ++loop) {
      strides.push_back(stride_of(dependency.index, static_cast<int>(loop)));
      if (is_open(dependency.sizes[loop])) spans.push_back(strides.back() * dependency.sizes[loop]);
    }
    return std::any_of(strides.begin(), strides.end(), [&](std::int64_t stride) {
      return stride > 0 && std::any_of(spans.begin(), spans.end(), [stride](std::int64_t span) {
               return span > 0 && stride % span == 0;
             });
    });
  }

  /// Runs the loops of a step so that it reads `own` as another reads `other`.
  bool reorder(Step& step, const Dependency& own, const Dependency& other) {
    if (hangs_on_open(own) || hangs_on_open(other)) return false;
    const std::size_t rank = own.sizes.size();
    for (const std::uint32_t op : step.operations) {
      if (s_.nests[op].sizes != s_.nests[step.operations.front()].sizes) return false;
    }
    if (s_.nests[step.operations.front()].sizes.size() != rank) return false;
    std::vector<std::int64_t> of_own;
    std::vector<std::int64_t> of_other;
    for (std::size_t i = 0; i < rank; ++i) {
      of_own.push_back(stride_of(own.index, static_cast<int>(i)));
      of_other.push_back(stride_of(other.index, static_cast<int>(i)));
      if (of_own.back() == 0 || of_other.back() == 0) return false;
    }
    std::vector<int> places(rank, -1);
    for (std::size_t i = 0; i < rank; ++i) {
      const auto found = std::find(of_own.begin(), of_own.end(), of_other[i]);
      if (found == of_own.end()) return false;
      int& place = places[static_cast<std::size_t>(found - of_own.begin())];
      if (place != -1) return false;
      place = static_cast<int>(i);
    }
    for (const std::uint32_t op : step.operations) {
      LoopNest& nest = s_.nests[op];
      std::vector<std::int64_t> sizes(rank);
      for (std::size_t i = 0; i < rank; ++i)
        sizes[static_cast<std::size_t>(places[i])] = nest.sizes[i];
      nest.sizes = sizes;
      const auto move = [&](Dependency& dependency) {
        if (dependency.is_whole) return;
        for (Digit& digit : dependency.index.digits)
          digit.loop = places[static_cast<std::size_t>(digit.loop)];
        std::sort(dependency.index.digits.begin(), dependency.index.digits.end(),
                  [](const Digit& x, const Digit& y) {
                    return x.loop != y.loop ? x.loop < y.loop : x.divisor > y.divisor;
                  });
        dependency.sizes = sizes;
        while (!dependency.sizes.empty() &&
               !reads_loop(dependency.index, static_cast<int>(dependency.sizes.size()) - 1))
          dependency.sizes.pop_back();
      };
      for (Dependency& read : nest.reads) move(read);
      move(nest.write);
    }
    gather(step);
    return true;
  }

  /// Reads and writes of a step anew, from its operations.
  void gather(Step& step) {
    step.reads.clear();
    step.writes.clear();
    step.needs.clear();
    std::set<BufferId> own;
    for (const std::uint32_t op : step.operations) {
      step.writes.push_back(s_.nests[op].write);
      own.insert(s_.program.operations[op].output);
    }
    for (const std::uint32_t op : step.operations) {
      for (const Dependency& read : s_.nests[op].reads) {
        if (!contains(step.reads, read) && !contains(step.writes, read)) step.reads.push_back(read);
        const bool is_needed =
            !s_.is_input(read.buffer) && own.count(read.buffer) == 0 &&
            std::find(step.needs.begin(), step.needs.end(), read.buffer) == step.needs.end();
        if (is_needed) step.needs.push_back(read.buffer);
      }
    }
  }

  /// Inputs that both could give back are worth more than what they share.
  [[nodiscard]] bool raises_peak(const Step& a, const Step& b) const {
    using Key = std::pair<ops::ScalarType, std::int64_t>;
    const auto single = [&](const Step& step) {
      std::set<Key> keys;
      for (const Dependency& read : step.reads) {
        const Buffer& buffer = s_.program.buffers[read.buffer];
        if (s_.is_input(read.buffer) || buffer.is_whole) continue;
        const std::size_t uses = s_.users[read.buffer].size() + (s_.is_output[read.buffer] ? 1 : 0);
        if (uses == 1) keys.insert({buffer.dtype, buffer.elements()});
      }
      return keys;
    };
    const std::set<Key> of_a = single(a);
    const std::set<Key> of_b = single(b);
    std::int64_t more = 0;
    for (const Key& key : of_a) {
      if (of_b.count(key) > 0) more += key.second;
    }
    return more > 32 * shared(a, b);
  }

  [[nodiscard]] bool is_split(const Step& step) const {
    if (!step.is_reduction) return false;
    return std::all_of(step.operations.begin(), step.operations.end(), [&](std::uint32_t op) {
      const Loops& loops = *s_.program.operations[op].loops;
      return !loops.is_reduction() || loops.whole_sizes != 0;
    });
  }

  /// Reductions along rows and along columns of the same, in one kernel.
  void note_mixed_orders(const Step& a, const Step& b) {
    const auto numbers = [&](const Step& step) {
      if (!is_split(step)) return std::pair{step.size, step.reduced};
      for (const std::uint32_t op : step.operations) {
        const Loops& loops = *s_.program.operations[op].loops;
        if (loops.whole_sizes != 0) return std::pair{loops.whole_sizes, loops.whole_reduced};
      }
      return std::pair{step.size, step.reduced};
    };
    const auto of_a = numbers(a);
    const auto of_b = numbers(b);
    if (of_a == of_b || of_a.first != of_b.second || of_a.second != of_b.first) return;
    const std::int64_t rows = std::max(of_a.first, of_a.second);
    const std::int64_t columns = std::min(of_a.first, of_a.second);
    const bool is_large =
        rows * columns >= std::int64_t{5} * (1 << 20) && rows >= 2 * columns && rows >= 4096;
    s_.mixes_orders = s_.mixes_orders || is_large;
  }

  [[nodiscard]] bool fits_loops(const Step& a, const Step& b) const {
    if (a.is_reduction && b.is_reduction) return a.size == b.size && a.reduced == b.reduced;
    if (!a.is_reduction && !b.is_reduction) return a.size == b.size && a.reduced == b.reduced;
    if (a.is_reduction) return fits_loops(b, a);
    if (a.size == b.size * b.reduced) {
      for (const std::uint32_t op : a.operations) {
        std::int64_t rest = b.size;
        for (const std::int64_t size : s_.nests[op].sizes) {
          if (rest == 1) break;
          if (rest % size == 0) {
            rest /= size;
          } else if (size % rest == 0) {
            rest = 1;
          } else {
            return false;
          }
        }
        if (rest != 1) return false;
      }
      return true;
    }
    return a.size == b.size;
  }

  [[nodiscard]] static bool reads_what_is_written(const Dependency& read, const Dependency& write) {
    if (read.is_whole || write.is_whole || write.is_atomic) return false;
    if (read.index.mark != 0 || write.index.mark != 0) return false;
    const bool is_same_rank = read.sizes.size() == write.sizes.size();
    const Dependency r = is_same_rank ? read : read.merged();
    const Dependency w = is_same_rank ? write : write.merged();
    return r.index == w.index && r.sizes.size() >= w.sizes.size() &&
           std::equal(w.sizes.begin(), w.sizes.end(), r.sizes.begin());
  }

  /// `b` reads what `a` gives where it gives it, and nothing must run between them.
  bool fits_behind(const Step& a, const Step& b) {
    std::set<BufferId> made;
    for (const Dependency& write : a.writes) made.insert(write.buffer);
    std::vector<BufferId> remaining;
    for (const Dependency& read : b.reads) {
      if (s_.is_input(read.buffer)) continue;
      const bool is_given =
          std::any_of(a.writes.begin(), a.writes.end(), [&](const Dependency& write) {
            return write.buffer == read.buffer && reads_what_is_written(read, write);
          });
      if (is_given) continue;
      if (made.count(read.buffer) > 0) return false;
      remaining.push_back(read.buffer);
    }
    return std::none_of(remaining.begin(), remaining.end(), [&](BufferId buffer) {
      const auto maker = static_cast<std::uint32_t>(s_.program.buffers[buffer].maker);
      return depends(*fused_[maker], a);
    });
  }

  bool can_fuse(Step& a, Step& b, bool may_reorder) {
    if (&a == &b || a.is_library || b.is_library || depends(a, b)) return false;
    if (a.is_reduction && b.is_reduction && !depends(b, a) && shares_any(a, b))
      note_mixed_orders(a, b);
    std::int64_t score = shared(a, b);
    if (may_reorder && score < kLeastShared) {
      const std::int64_t other = shared_reordered(a, b);
      if (other >= 0) score = other;
    }
    if (score == 0 || a.operations.size() + b.operations.size() > kMostOperations) return false;
    if (raises_peak(a, b)) return false;
    if (depends(b, a)) return fits_behind(a, b) && fits_loops(a, b);
    return score >= kLeastShared && distance(a, b) <= kMostDistance && fits_loops(a, b);
  }

  [[nodiscard]] static bool shares_any(const Step& a, const Step& b) {
    return std::any_of(a.reads.begin(), a.reads.end(), [&](const Dependency& read) {
      return std::any_of(b.reads.begin(), b.reads.end(),
                         [&](const Dependency& other) { return other.buffer == read.buffer; });
    });
  }

  [[nodiscard]] static std::size_t distance(const Step& a, const Step& b) {
    const auto apart = [](std::size_t x, std::size_t y) { return x > y ? x - y : y - x; };
    return std::max(apart(a.first, b.last), apart(b.first, a.last));
  }

  /// Whether one of two leads to the other by way of kernels that were fused already.
  bool makes_cycle(const Step& a, const Step& b) {
    NumberSet names;
    NumberSet ancestors = a.ancestors;
    ancestors.insert(b.ancestors);
    for (const Step* step : {&a, &b}) {
      for (const std::uint32_t op : step->operations) {
        names.insert(op);
        ancestors.erase(op);
      }
    }
    std::set<const Step*> visited;
    const std::function<bool(const Step&)> leads = [&](const Step& step) {
      if (step.operations.size() < 2 || !visited.insert(&step).second) return false;
      const bool is_inside = std::all_of(step.operations.begin(), step.operations.end(),
                                         [&](std::uint32_t op) { return ancestors.contains(op); });
      if (is_inside) return false;
      return step.ancestors.any_of([&](std::uint32_t op) { return names.contains(op); }) ||
             step.ancestors.any_of(
                 [&](std::uint32_t op) { return !ancestors.contains(op) && leads(*fused_[op]); });
    };
    return ancestors.any_of([&](std::uint32_t op) { return leads(*fused_[op]); });
  }

  Node fused(const Step& a, const Step& b) {
    auto made = std::make_shared<Step>();
    made->operations = a.operations;
    made->operations.insert(made->operations.end(), b.operations.begin(), b.operations.end());
    made->ancestors = a.ancestors;
    made->ancestors.insert(b.ancestors);
    made->first = std::min(a.first, b.first);
    made->last = std::max(a.last, b.last);
    made->is_reduction = a.is_reduction || b.is_reduction;
    const Step& wider = b.is_reduction && !a.is_reduction ? b : a;
    made->size = wider.size;
    made->reduced = wider.reduced;
    gather(*made);
    return made;
  }

  void fuse_once(bool may_reorder) {
    fused_.assign(s_.program.operations.size(), nullptr);
    for (const Node& node : nodes_) {
      for (const std::uint32_t op : node->operations) fused_[op] = node;
    }
    // Those that use a buffer, by buffer, in the order in which buffers are first used.
    std::vector<BufferId> order;
    std::map<BufferId, std::vector<Node>> groups;
    for (const Node& node : nodes_) {
      if (node->is_library) continue;
      std::set<BufferId> used;
      for (const auto* list : {&node->reads, &node->writes}) {
        for (const Dependency& dependency : *list) {
          if (!used.insert(dependency.buffer).second) continue;
          if (groups[dependency.buffer].empty()) order.push_back(dependency.buffer);
          groups[dependency.buffer].push_back(node);
        }
      }
    }
    std::vector<std::pair<Node, Node>> possible;
    std::set<std::pair<Step*, Step*>> seen;
    for (const BufferId buffer : order) {
      const std::vector<Node>& group = groups[buffer];
      for (std::size_t i = 0; i < group.size(); ++i) {
        for (std::size_t j = i + 1; j < group.size() && j <= i + kMostNeighbours; ++j) {
          if (!seen.insert({group[i].get(), group[j].get()}).second) continue;
          if (can_fuse(*group[i], *group[j], may_reorder))
            possible.emplace_back(group[i], group[j]);
        }
      }
    }
    std::vector<std::pair<Score, std::size_t>> scored;
    for (std::size_t i = 0; i < possible.size(); ++i) {
      const auto& [a, b] = possible[i];
      const std::int64_t bytes = shared(*a, *b);
      const bool is_alike = a->is_reduction == b->is_reduction && bytes > 0;
      scored.emplace_back(Score{is_alike, bytes, -static_cast<std::int64_t>(distance(*a, *b))}, i);
    }
    std::stable_sort(scored.begin(), scored.end(),
                     [](const auto& x, const auto& y) { return x.first > y.first; });
    for (const auto& [score, i] : scored) {
      const Node a = fused_[possible[i].first->operations.front()];
      const Node b = fused_[possible[i].second->operations.front()];
      if (a == b || !can_fuse(*a, *b, may_reorder) || makes_cycle(*a, *b)) continue;
      const Node made = fused(*a, *b);
      std::erase(nodes_, a);
      std::erase(nodes_, b);
      nodes_.push_back(made);
      for (const std::uint32_t op : made->operations) fused_[op] = made;
    }
    std::stable_sort(nodes_.begin(), nodes_.end(),
                     [](const Node& x, const Node& y) { return x->first < y->first; });
    sort();
  }

  void sort() {
    s_.steps.clear();
    for (const Node& node : nodes_) s_.steps.push_back(*node);
    s_.sort();
    nodes_.clear();
    for (Step& step : s_.steps) nodes_.push_back(std::make_shared<Step>(std::move(step)));
  }

  Schedule& s_;
  std::vector<Node> nodes_;
  std::vector<Node> fused_;  ///< by operation
};

void Schedule::fuse() { Fusion(*this).run(); }

}  // namespace tidemark::graph::inductor
