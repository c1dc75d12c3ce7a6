#include "sim/graph/inductor/plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sim/graph/inductor/kernel_loops.h"

namespace tidemark::graph::inductor {

namespace {

class Planner {
 public:
  explicit Planner(const Schedule& schedule)
      : s_(schedule),
        buffers_(schedule.program.buffers),
        is_removed_(buffers_.size()),
        is_allocated_(buffers_.size()),
        is_freed_(buffers_.size()),
        is_done_(schedule.program.operations.size()),
        fused_(schedule.program.operations.size(), -1),
        ancestors_(schedule.program.operations.size()),
        are_known_(schedule.program.operations.size()) {
    for (std::size_t i = 0; i < s_.steps.size(); ++i) {
      for (const std::uint32_t op : s_.steps[i].operations)
        fused_[op] = static_cast<std::int32_t>(i);
    }
  }

  std::vector<Line> run() {
    find_last_uses();
    for (std::size_t i = 0; i < s_.steps.size(); ++i) {
      step_ = static_cast<std::uint32_t>(i);
      const Step& step = s_.steps[i];
      if (step.is_library) {
        library(step);
      } else {
        loops(step);
      }
      for (const std::uint32_t op : step.operations) is_done_[op] = true;
      free_unused(i);
    }
    reuse();
    std::erase_if(lines_, [](const Line& line) { return line.kind == Line::Kind::kNothing; });
    return std::move(lines_);
  }

 private:
  void find_last_uses() {
    std::vector<bool> is_used(buffers_.size());
    for (BufferId id = 0; id < buffers_.size(); ++id) {
      if (s_.is_output[id]) is_used[s_.original(id)] = true;
    }
    last_uses_.resize(s_.steps.size());
    for (std::size_t i = s_.steps.size(); i-- > 0;) {
      std::set<BufferId> used;
      for (const auto* list : {&s_.steps[i].reads, &s_.steps[i].writes}) {
        for (const Dependency& dependency : *list) {
          for (BufferId id = s_.original(dependency.buffer); id != kNoBuffer;
               id = buffers_[id].alias_of)
            used.insert(s_.original(id));
        }
      }
      for (const BufferId id : used) {
        if (is_used[id]) continue;
        is_used[id] = true;
        last_uses_[i].push_back(id);
      }
    }
  }

  Line& line(Line::Kind kind, BufferId buffer, BufferId other = kNoBuffer) {
    Line made;
    made.kind = kind;
    made.buffer = buffer;
    made.other = other;
    made.step = step_;
    lines_.push_back(made);
    return lines_.back();
  }

  void allocate(BufferId id) {
    if (is_allocated_[id] || s_.is_input(id)) return;
    is_allocated_[id] = true;
    if (buffers_[id].within != kNoBuffer) {
      allocate(buffers_[id].within);
      line(Line::Kind::kWithin, id, buffers_[id].within);
      return;
    }
    if (!buffers_[id].is_library_made && buffers_[id].changes == kNoBuffer)
      line(Line::Kind::kAllocate, id);
  }

  void library(const Step& step) {
    const Operation& operation = s_.program.operations[step.operations.front()];
    const BufferId output = operation.output;
    if (operation.is_part) {
      Line& part = line(Line::Kind::kPart, output, operation.reads.front());
      part.node = operation.node;
      is_allocated_[output] = true;
      return;
    }
    allocate(output);
    if (operation.is_joined) return;
    Line& call = line(Line::Kind::kLibrary, output);
    call.node = operation.node;
  }

  /// Whether all that uses a buffer runs in the kernel that makes it.
  [[nodiscard]] bool is_local(BufferId id, std::int32_t kernel) const {
    if (s_.is_output[id] || buffers_[id].changes != kNoBuffer) return false;
    return std::all_of(s_.users[id].begin(), s_.users[id].end(), [&](const Schedule::User& user) {
      const BufferId result = s_.program.operations[user.operation].output;
      return fused_[user.operation] == kernel && buffers_[result].changes != id;
    });
  }

  [[nodiscard]] bool may_take_over(BufferId id) const {
    if (s_.is_input(id) && !buffers_[id].is_donated) return false;
    const bool is_joined =
        !s_.is_input(id) &&
        s_.program.operations[static_cast<std::size_t>(buffers_[id].maker)].is_joined;
    return !is_removed_[id] && !is_freed_[id] && !buffers_[id].is_whole && !is_joined &&
           buffers_[id].changes == kNoBuffer && buffers_[id].within == kNoBuffer &&
           buffers_[id].alias_of == kNoBuffer;
  }

  [[nodiscard]] static bool fits(const Buffer& from, const Buffer& to) {
    if (from.dtype != to.dtype || from.device.index != to.device.index) return false;
    if (from.has_least_strides != to.has_least_strides) return false;
    const std::int64_t a = from.elements();
    const std::int64_t b = to.elements();
    return a == b || (static_cast<double>(b) >= 0.95 * static_cast<double>(a) && b <= a);
  }

  /// Whether a kernel reads and writes a buffer at one place only.
  [[nodiscard]] bool has_one_place(BufferId id, std::int32_t kernel) const {
    std::vector<Dependency> places;
    const auto note = [&](const Dependency& dependency) {
      if (dependency.buffer != id) return;
      Dependency merged = dependency.merged();
      if (std::find(places.begin(), places.end(), merged) == places.end())
        places.push_back(std::move(merged));
    };
    for (const Schedule::User& user : s_.users[id]) {
      if (fused_[user.operation] != kernel) continue;
      for (const Dependency& read : s_.nests[user.operation].reads) note(read);
      note(s_.nests[user.operation].write);
    }
    return places.size() <= 1;
  }

  /// The buffer that an operation's result may be written over. Source: torch's
  /// decide_inplace_update.
  BufferId overwritten(std::uint32_t op, const Step& step, std::int32_t kernel,
                       const std::set<std::uint32_t>& before) {
    const BufferId output = s_.program.operations[op].output;
    if (buffers_[output].changes != kNoBuffer || buffers_[output].within != kNoBuffer ||
        is_removed_[output])
      return kNoBuffer;
    for (const Dependency& read : s_.nests[op].reads) {
      const BufferId id = read.buffer;
      if (!may_take_over(id)) continue;
      std::size_t left = 0;
      bool is_this = false;
      for (const Schedule::User& user : s_.users[id]) {
        const bool is_past = is_done_[user.operation] || s_.is_removed[user.operation] ||
                             ancestors_of(op).contains(user.operation);
        if (is_past) continue;
        ++left;
        is_this = is_this || (user.operation == op && user.may_overwrite);
      }
      if (s_.is_output[id]) ++left;
      if (left == 1 && is_this && fits(buffers_[id], buffers_[output]) && has_one_place(id, kernel))
        return id;
    }
    (void)step;
    (void)before;
    return kNoBuffer;
  }

  /// Operations before one, by way of buffers.
  const NumberSet& ancestors_of(std::uint32_t op) {
    if (are_known_[op]) return ancestors_[op];
    NumberSet found;
    const auto visit = [&](BufferId id) {
      if (s_.is_input(id)) return;
      const auto maker = static_cast<std::uint32_t>(buffers_[id].maker);
      found.insert(maker);
      found.insert(ancestors_of(maker));
    };
    const Operation& operation = s_.program.operations[op];
    for (const BufferId read : operation.reads) visit(read);
    for (const Dependency& read : s_.nests[op].reads) visit(read.buffer);
    are_known_[op] = true;
    return ancestors_[op] = std::move(found);
  }

  void loops(const Step& step) {
    const auto kernel = static_cast<std::int32_t>(step_);
    std::map<BufferId, BufferId> over;  // result: what it is written over
    std::map<BufferId, std::vector<BufferId>> chains;
    for (const std::uint32_t op : step.operations) {
      const BufferId from = overwritten(op, step, kernel, {});
      if (from != kNoBuffer) over[s_.program.operations[op].output] = from;
    }
    for (const std::uint32_t op : step.operations) {
      const BufferId output = s_.program.operations[op].output;
      const auto from = over.find(output);
      if (from == over.end()) {
        allocate(output);
        continue;
      }
      allocate(from->second);
      is_freed_[from->second] = true;
      is_allocated_[output] = true;
      line(Line::Kind::kReuse, output, from->second);
    }
    line(Line::Kind::kLoops, kNoBuffer).bytes = bytes_moved(step);
    // What lives only within the kernel needs no memory, unless results are written over it.
    std::map<BufferId, BufferId> root;
    const auto root_of = [&](BufferId id) {
      while (over.count(id) > 0) id = over[id];
      return id;
    };
    std::map<BufferId, bool> is_kept;
    const std::set<BufferId> read_later = read_in_later_loops(
        s_, step, [this](std::uint32_t op) -> const NumberSet& { return ancestors_of(op); });
    const auto needs_none = [&](BufferId id) {
      return is_local(id, kernel) && read_later.count(id) == 0;
    };
    for (const std::uint32_t op : step.operations) {
      const BufferId output = s_.program.operations[op].output;
      const BufferId first = root_of(output);
      const bool is_own =
          !s_.is_input(first) && fused_[static_cast<std::size_t>(buffers_[first].maker)] == kernel;
      is_kept[first] = is_kept[first] || !needs_none(output) || !is_own;
    }
    for (const std::uint32_t op : step.operations) {
      const BufferId output = s_.program.operations[op].output;
      const BufferId first = root_of(output);
      const bool is_alone = over.count(output) == 0 &&
                            std::none_of(over.begin(), over.end(),
                                         [&](const auto& entry) { return entry.second == output; });
      if (is_alone ? needs_none(output) : !is_kept[first]) is_removed_[output] = true;
    }
  }

  [[nodiscard]] std::uint64_t bytes_moved(const Step& step) const {
    std::uint64_t bytes = 0;
    for (const auto* list : {&step.reads, &step.writes}) {
      for (const Dependency& dependency : *list)
        bytes += static_cast<std::uint64_t>(buffers_[dependency.buffer].bytes());
    }
    return bytes;
  }

  void free_unused(std::size_t step) {
    to_free_.insert(to_free_.end(), last_uses_[step].begin(), last_uses_[step].end());
    std::sort(to_free_.begin(), to_free_.end(),
              [this](BufferId a, BufferId b) { return buffers_[a].name < buffers_[b].name; });
    for (const BufferId id : to_free_) {
      if (is_removed_[id] || is_freed_[id] || s_.is_output[id]) continue;
      if (s_.is_input(id)) {
        line(Line::Kind::kFree, id);
        continue;
      }
      is_freed_[id] = true;
      line(buffers_[id].is_whole ? Line::Kind::kFreeWhole : Line::Kind::kFree, id);
    }
    to_free_.clear();
  }

  /// Freed memory of the same size goes to what is asked for later, the latest first. Source:
  /// torch's memory_plan_reuse.
  void reuse() {
    std::map<std::tuple<ops::ScalarType, std::int64_t, int, bool>, std::vector<std::size_t>> pool;
    std::vector<std::int64_t> held = s_.memory_at_step;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      Line& at = lines_[i];
      if (at.kind != Line::Kind::kAllocate && at.kind != Line::Kind::kFree &&
          at.kind != Line::Kind::kReuse)
        continue;
      if (is_removed_[at.buffer] || (at.kind == Line::Kind::kReuse && is_removed_[at.other])) {
        at.kind = Line::Kind::kNothing;
        continue;
      }
      const Buffer& buffer = buffers_[at.buffer];
      const std::tuple key{buffer.dtype, buffer.elements(), static_cast<int>(buffer.device.index),
                           buffer.has_least_strides};
      if (at.kind == Line::Kind::kFree) {
        const bool is_own = buffer.within == kNoBuffer && buffer.alias_of == kNoBuffer;
        if (!s_.is_input(at.buffer) && is_own) pool[key].push_back(i);
        continue;
      }
      if (at.kind == Line::Kind::kReuse || pool[key].empty()) continue;
      Line& freed = lines_[pool[key].back()];
      const auto size = static_cast<std::int64_t>(buffer.bytes());
      std::int64_t most = 0;
      for (std::size_t step = freed.step + 1; step < at.step; ++step)
        most = std::max(most, held[step]);
      const bool is_next = freed.step + 1 == at.step;
      if (!is_next && size + most > s_.peak) continue;
      pool[key].pop_back();
      freed.kind = Line::Kind::kNothing;
      at.kind = Line::Kind::kReuse;
      at.other = freed.buffer;
      if (is_next) continue;
      for (std::size_t step = freed.step + 1; step < at.step; ++step) held[step] += size;
    }
  }

  const Schedule& s_;
  const std::vector<Buffer>& buffers_;
  std::vector<bool> is_removed_;
  std::vector<bool> is_allocated_;
  std::vector<bool> is_freed_;
  std::vector<bool> is_done_;
  std::vector<std::int32_t> fused_;  ///< by operation: its step
  std::vector<std::vector<BufferId>> last_uses_;
  std::vector<BufferId> to_free_;
  std::vector<NumberSet> ancestors_;  ///< by operation, once they are known
  std::vector<bool> are_known_;
  std::vector<Line> lines_;
  std::uint32_t step_ = 0;
};

}  // namespace

std::vector<Line> plan_of(const Schedule& schedule) { return Planner(schedule).run(); }

}  // namespace tidemark::graph::inductor
