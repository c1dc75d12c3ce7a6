// The order of kernels that is estimated to need the least memory. Source:
// docs/rules/compile.md#7; torch's reorder_for_peak_memory.

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "sim/graph/inductor/schedule.h"

namespace tidemark::graph::inductor {

class MemoryOrder {
 public:
  using Order = std::vector<std::size_t>;

  explicit MemoryOrder(const Schedule& schedule) : s_(schedule) {
    const std::size_t buffers = s_.program.buffers.size();
    readers_.resize(buffers);
    // What was written over is known by its first name.
    is_result_.resize(buffers);
    for (BufferId id = 0; id < buffers; ++id) {
      if (s_.is_output[id]) is_result_[s_.original(id)] = true;
    }
    is_known_.resize(buffers);
    allocated_.resize(buffers);
    freed_.resize(buffers);
    next_.resize(s_.steps.size());
    previous_.resize(s_.steps.size());
    taken_.resize(s_.steps.size());
    outputs_.resize(s_.steps.size());
    needs_.resize(s_.steps.size());
    find_sizes();
    find_readers();
  }

  [[nodiscard]] Order best(std::int64_t& peak) const {
    Order order(s_.steps.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::int64_t> ignored;
    peak = estimate(order, ignored);
    for (const Order& other : {least_first(), first_in(), deepest()}) {
      const std::int64_t of_other = estimate(other, ignored);
      if (of_other < peak) {
        peak = of_other;
        order = other;
      }
    }
    return order;
  }

  /// The peak, and what is held at each step.
  std::int64_t estimate(const Order& order, std::vector<std::int64_t>& held) const {
    const std::size_t n = order.size();
    std::vector<std::size_t> at(n);
    for (std::size_t i = 0; i < n; ++i) at[order[i]] = i;
    std::vector<std::int64_t> change(n + 1, 0);
    const auto last_reader = [&](BufferId id) {
      std::int64_t last = -1;
      for (const std::size_t step : readers_[id])
        last = std::max(last, static_cast<std::int64_t>(at[step]));
      return last;
    };
    for (BufferId id = 0; id < s_.program.buffers.size(); ++id) {
      if (!s_.is_input(id) || !is_known_[id]) continue;
      const std::int64_t end = is_result_[id] ? -1 : last_reader(id);
      change[0] += freed_[id];
      change[static_cast<std::size_t>(end + 1)] -= freed_[id];
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (const BufferId id : outputs_[order[i]]) {
        std::int64_t end = -1;
        if (!is_result_[id]) {
          end = last_reader(id);
          if (end == -1) end = static_cast<std::int64_t>(i);
        }
        change[i] += allocated_[id];
        change[static_cast<std::size_t>(end + 1)] -= freed_[id];
      }
    }
    held.clear();
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (const std::int64_t step : change) {
      now += step;
      held.push_back(now);
      most = std::max(most, now);
    }
    return most;
  }

 private:
  void find_sizes() {
    for (std::size_t i = 0; i < s_.steps.size(); ++i) {
      for (const std::uint32_t op : s_.steps[i].operations)
        outputs_[i].push_back(s_.program.operations[op].output);
    }
    for (BufferId id = 0; id < s_.program.buffers.size(); ++id) {
      const Buffer& buffer = s_.program.buffers[id];
      if (buffer.maker < 0 || buffer.is_whole || buffer.changes != kNoBuffer) continue;
      const Operation& operation = s_.program.operations[static_cast<std::size_t>(buffer.maker)];
      // A result among several that nobody wants.
      if (operation.is_part && s_.is_removed[static_cast<std::size_t>(buffer.maker)]) continue;
      const auto bytes = static_cast<std::int64_t>(static_cast<Bytes>(product(buffer.sizes)) *
                                                   ops::element_bytes(buffer.dtype));
      freed_[id] = bytes;
      if (operation.is_part) {
        allocated_[operation.reads.front()] += bytes;
      } else {
        allocated_[id] = bytes;
      }
    }
  }

  void find_readers() {
    std::vector<std::int32_t> maker(s_.program.buffers.size(), -1);
    for (std::size_t i = 0; i < s_.steps.size(); ++i) {
      for (const BufferId id : outputs_[i]) maker[id] = static_cast<std::int32_t>(i);
    }
    std::map<BufferId, std::int64_t> last_size;
    for (std::size_t i = 0; i < s_.steps.size(); ++i) {
      const Step& step = s_.steps[i];
      std::set<BufferId> seen;
      for (const BufferId need : step.needs) {
        if (!seen.insert(need).second || maker[need] < 0) continue;
        needs_[i].push_back(need);
        const auto from = static_cast<std::size_t>(maker[need]);
        if (from == i) continue;
        add(next_[from], i);
        add(previous_[i], from);
        const BufferId held = s_.original(need);
        add(readers_[held], i);
        add(taken_[i], need);
        if (held == need) continue;
        // Who reads what was written over reads what was there first. Source: torch's
        // assign_memory_planning_info_for_scheduler_buffers.
        add(readers_[need], i);
        add(taken_[i], held);
        if (maker[held] < 0 || static_cast<std::size_t>(maker[held]) == i) continue;
        add(next_[static_cast<std::size_t>(maker[held])], i);
        add(previous_[i], static_cast<std::size_t>(maker[held]));
      }
      for (const Dependency& read : step.reads) {
        const Buffer& buffer = s_.program.buffers[read.buffer];
        if (!s_.is_input(read.buffer)) continue;
        const bool is_kept = buffer.name.starts_with("primals_") ||
                             buffer.name.starts_with("arg") || buffer.name.starts_with("tangents");
        if (is_kept) continue;
        is_known_[read.buffer] = true;
        add(readers_[read.buffer], i);
        add(taken_[i], read.buffer);
        freed_[read.buffer] = bytes_read(read);
      }
    }
  }

  template <class T, class U>
  static void add(std::vector<T>& list, U value) {
    if (std::find(list.begin(), list.end(), static_cast<T>(value)) == list.end())
      list.push_back(static_cast<T>(value));
  }

  [[nodiscard]] std::int64_t bytes_read(const Dependency& read) const {
    const Buffer& buffer = s_.program.buffers[read.buffer];
    const auto element = static_cast<std::int64_t>(ops::element_bytes(buffer.dtype));
    if (read.is_whole || read.index.mark != 0) return product(buffer.sizes) * element;
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < read.sizes.size(); ++i) {
      if (reads_loop(read.index, static_cast<int>(i))) elements *= read.sizes[i];
    }
    return elements * element;
  }

  [[nodiscard]] std::int64_t size_of(std::size_t step) const {
    std::int64_t size = 0;
    for (const BufferId id : outputs_[step]) size += allocated_[id];
    return size;
  }

  /// Source: torch's topological_sort_lpmf.
  [[nodiscard]] Order least_first() const {
    const std::size_t n = s_.steps.size();
    std::vector<std::size_t> waits(n);
    std::vector<std::int64_t> gives(n);
    std::vector<std::size_t> uses(s_.program.buffers.size());
    std::int64_t live = 0;
    std::int64_t results = 0;
    for (BufferId id = 0; id < uses.size(); ++id) {
      uses[id] = readers_[id].size() + (is_result_[id] ? 1 : 0);
      if (s_.is_input(id) && is_known_[id]) live += freed_[id];
      const bool counts = !s_.is_input(id) || is_known_[id];
      if (is_result_[id] && counts) results += freed_[id];
    }
    std::int64_t most = std::max(live, results);
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < n; ++i) {
      waits[i] = previous_[i].size();
      if (waits[i] == 0) ready.push_back(i);
      for (const BufferId id : taken_[i]) {
        if (uses[id] == 1) gives[i] += freed_[id];
      }
      for (const BufferId id : outputs_[i]) {
        if (uses[id] == 0) gives[i] += freed_[id];
      }
    }
    Order order;
    while (!ready.empty()) {
      const std::int64_t gap = most - live;
      const auto key = [&](std::size_t step) {
        const std::int64_t size = size_of(step);
        return std::tuple{size > gap ? size : 0, size - gives[step], step};
      };
      const auto chosen =
          std::min_element(ready.begin(), ready.end(),
                           [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
      const std::size_t step = *chosen;
      ready.erase(chosen);
      order.push_back(step);
      live += size_of(step);
      most = std::max(most, live);
      live -= gives[step];
      for (const std::size_t later : next_[step]) {
        if (--waits[later] == 0) ready.push_back(later);
      }
      for (const BufferId id : taken_[step]) {
        if (--uses[id] != 1) continue;
        for (const std::size_t reader : readers_[id]) gives[reader] += freed_[id];
      }
    }
    return order;
  }

  /// Source: torch's topological_sort_bfs.
  [[nodiscard]] Order first_in() const {
    const std::size_t n = s_.steps.size();
    std::vector<std::size_t> waits(n);
    std::vector<std::size_t> place(n);
    using Entry = std::pair<std::vector<std::size_t>, std::size_t>;
    std::set<Entry> ready;
    const auto priority = [&](std::size_t step) {
      std::set<std::size_t> places;
      for (const std::size_t before : previous_[step]) places.insert(place[before]);
      return std::vector<std::size_t>(places.begin(), places.end());
    };
    for (std::size_t i = 0; i < n; ++i) {
      waits[i] = previous_[i].size();
      if (waits[i] == 0) ready.insert({{}, i});
    }
    Order order;
    while (!ready.empty()) {
      const std::size_t step = ready.begin()->second;
      ready.erase(ready.begin());
      place[step] = order.size();
      order.push_back(step);
      for (const std::size_t later : next_[step]) {
        if (--waits[later] == 0) ready.insert({priority(later), later});
      }
    }
    return order;
  }

  /// Source: torch's topological_sort_dfs.
  [[nodiscard]] Order deepest() const {
    const std::size_t n = s_.steps.size();
    std::vector<std::int64_t> sizes(n);
    std::vector<std::int32_t> maker(s_.program.buffers.size(), -1);
    for (std::size_t i = 0; i < n; ++i) {
      sizes[i] = size_of(i);
      for (const BufferId id : taken_[i]) sizes[i] += freed_[id];
      for (const BufferId id : outputs_[i]) maker[id] = static_cast<std::int32_t>(i);
    }
    const auto by_size = [&](std::size_t a, std::size_t b) {
      return std::pair{sizes[a], a} < std::pair{sizes[b], b};
    };
    std::vector<bool> is_seen(n);
    Order order;
    const std::function<void(std::size_t)> visit = [&](std::size_t step) {
      if (is_seen[step]) return;
      is_seen[step] = true;
      std::vector<std::size_t> before;
      for (const BufferId need : needs_[step]) {
        if (maker[need] >= 0) before.push_back(static_cast<std::size_t>(maker[need]));
      }
      std::stable_sort(before.begin(), before.end(), by_size);
      for (const std::size_t other : before) visit(other);
      order.push_back(step);
    };
    Order starts(n);
    std::iota(starts.begin(), starts.end(), 0);
    std::stable_sort(starts.begin(), starts.end(), by_size);
    for (const std::size_t step : starts) visit(step);
    return order;
  }

  const Schedule& s_;
  std::vector<bool> is_result_;                    ///< by buffer, by its first name
  std::vector<std::vector<std::size_t>> readers_;  ///< by buffer: steps
  std::vector<bool> is_known_;                     ///< by buffer: an input that may be freed
  std::vector<std::int64_t> allocated_;            ///< by buffer
  std::vector<std::int64_t> freed_;
  std::vector<std::vector<std::size_t>> next_;  ///< by step
  std::vector<std::vector<std::size_t>> previous_;
  std::vector<std::vector<BufferId>> taken_;
  std::vector<std::vector<BufferId>> outputs_;
  std::vector<std::vector<BufferId>> needs_;
};

void Schedule::order_for_memory() {
  const MemoryOrder orders(*this);
  const MemoryOrder::Order order = orders.best(peak);
  std::vector<Step> sorted;
  for (const std::size_t i : order) sorted.push_back(std::move(steps[i]));
  steps = std::move(sorted);
  estimate();
}

bool Schedule::order_as(const std::vector<std::uint32_t>& first_operations) {
  std::vector<std::size_t> order;
  for (const std::uint32_t operation : first_operations) {
    const auto found = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
      return step.operations.front() == operation;
    });
    if (found == steps.end()) return false;
    order.push_back(static_cast<std::size_t>(found - steps.begin()));
  }
  if (order.size() != steps.size()) return false;
  std::vector<Step> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(steps[i]));
  steps = std::move(sorted);
  estimate();
  return true;
}

void Schedule::estimate() {
  const MemoryOrder orders(*this);
  MemoryOrder::Order same(steps.size());
  std::iota(same.begin(), same.end(), 0);
  peak = orders.estimate(same, memory_at_step);
}

}  // namespace tidemark::graph::inductor
