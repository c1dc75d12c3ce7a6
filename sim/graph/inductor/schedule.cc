#include "sim/graph/inductor/schedule.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "sim/graph/inductor/lowering.h"

namespace tidemark::graph::inductor {

namespace {

/// The scale of a loop that an index reads as it is; -1: in parts.
std::int64_t plain_scale(const Index& index, int loop, std::int64_t size) {
  std::int64_t scale = 0;
  for (const Digit& digit : index.digits) {
    if (digit.loop != loop) continue;
    if (digit.divisor != 1 || digit.extent != size || scale != 0) return -1;
    scale = digit.scale;
  }
  return scale;
}

void renumber(Index& index, const std::vector<int>& places) {
  for (Digit& digit : index.digits) digit.loop = places[static_cast<std::size_t>(digit.loop)];
  std::sort(index.digits.begin(), index.digits.end(), [](const Digit& a, const Digit& b) {
    return a.loop != b.loop ? a.loop < b.loop : a.divisor > b.divisor;
  });
}

void drop_unused(Dependency& dependency) {
  while (!dependency.sizes.empty() &&
         !reads_loop(dependency.index, static_cast<int>(dependency.sizes.size()) - 1))
    dependency.sizes.pop_back();
}

}  // namespace

Dependency Dependency::merged() const {
  Dependency out = *this;
  if (is_whole) return out;
  for (std::size_t i = 0; i + 1 < out.sizes.size();) {
    const std::int64_t outer = plain_scale(out.index, static_cast<int>(i), out.sizes[i]);
    const std::int64_t inner = plain_scale(out.index, static_cast<int>(i) + 1, out.sizes[i + 1]);
    const bool is_one =
        outer >= 0 && inner >= 0 && outer == inner * out.sizes[i + 1] && (outer > 0 || inner == 0);
    if (!is_one) {
      ++i;
      continue;
    }
    std::erase_if(out.index.digits, [i](const Digit& d) {
      return d.loop == static_cast<int>(i) || d.loop == static_cast<int>(i) + 1;
    });
    out.sizes[i] *= out.sizes[i + 1];
    out.sizes.erase(out.sizes.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    for (Digit& digit : out.index.digits) {
      if (digit.loop > static_cast<int>(i)) --digit.loop;
    }
    if (inner > 0) out.index.digits.push_back({static_cast<int>(i), 1, out.sizes[i], inner});
    std::sort(out.index.digits.begin(), out.index.digits.end(), [](const Digit& a, const Digit& b) {
      return a.loop != b.loop ? a.loop < b.loop : a.divisor > b.divisor;
    });
    i = 0;
  }
  drop_unused(out);
  return out;
}

Dependency Dependency::in_order() const {
  if (is_whole) return *this;
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
    return stride_of(index, static_cast<int>(a)) > stride_of(index, static_cast<int>(b));
  });
  Dependency out = *this;
  std::vector<int> places(sizes.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    out.sizes[i] = sizes[order[i]];
    places[order[i]] = static_cast<int>(i);
  }
  renumber(out.index, places);
  return out.merged();
}

Schedule::Schedule(const LoopProgram& of)
    : program(of),
      nests(of.operations.size()),
      users(of.buffers.size()),
      is_output(of.buffers.size()),
      is_removed(of.operations.size()) {
  for (const Result& result : of.results) {
    if (result.buffer != kNoBuffer) is_output[result.buffer] = true;
  }
  for (std::uint32_t i = 0; i < of.operations.size(); ++i) {
    if (of.operations[i].loops != nullptr) make_nest(i);
  }
  connect();
  for (std::uint32_t i = 0; i < of.operations.size(); ++i) steps.push_back(step_of(i));
  sort();
  remove_dead();
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].first = steps[i].last = i;
  find_ancestors();
  sort();
}

BufferId Schedule::original(BufferId id) const {
  while (program.buffers[id].changes != kNoBuffer) id = program.buffers[id].changes;
  return id;
}

void Schedule::make_nest(std::uint32_t number) {
  const Operation& operation = program.operations[number];
  const Loops& loops = *operation.loops;
  const Buffer& output = program.buffers[operation.output];
  std::vector<Access> reads = reads_of(loops);
  Index write;
  if (loops.adds_atomically) {
    write.mark = mixed(number, 0xa70fULL) | 1U;
  } else if (loops.writes_part) {
    write = flat(counters_of(loops.sizes, {}), loops.sizes, loops.part_strides, loops.part_begin);
  } else {
    write = flat(counters_of(loops.sizes, {}), loops.sizes, output.strides, 0);
  }
  std::vector<Index> formulas{write};
  for (const Access& read : reads) {
    if (std::find(formulas.begin(), formulas.end(), read.index) == formulas.end())
      formulas.push_back(read.index);
  }
  LoopNest& nest = nests[number];
  std::vector<int> places(loops.sizes.size() + loops.reduced.size(), 0);
  int next = 0;
  const auto order_part = [&](const ops::Dims& sizes, std::size_t start,
                              std::vector<std::int64_t>& into) {
    ops::Dims kept;
    std::vector<std::size_t> loops_kept;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] == 1) continue;
      kept.push_back(sizes[i]);
      loops_kept.push_back(start + i);
    }
    std::vector<std::vector<std::int64_t>> strides;
    for (const Index& formula : formulas) {
      std::vector<std::int64_t>& of = strides.emplace_back();
      for (const std::size_t loop : loops_kept)
        of.push_back(stride_of(formula, static_cast<int>(loop)));
    }
    const std::vector<std::size_t> order = pick_loop_order(strides, kept);
    for (std::size_t i = order.size(); i-- > 0;) {
      into.push_back(kept[order[i]]);
      places[loops_kept[order[i]]] = next++;
    }
  };
  order_part(loops.sizes, 0, nest.sizes);
  order_part(loops.reduced, loops.sizes.size(), nest.reduced);
  std::vector<std::int64_t> all = nest.sizes;
  all.insert(all.end(), nest.reduced.begin(), nest.reduced.end());
  const auto dependency = [&](BufferId buffer, Index index) {
    Dependency made;
    made.buffer = buffer;
    renumber(index, places);
    made.index = std::move(index);
    made.sizes = all;
    drop_unused(made);
    return made;
  };
  for (Access& read : reads) {
    Dependency made = dependency(read.buffer, std::move(read.index));
    if (std::find(nest.reads.begin(), nest.reads.end(), made) == nest.reads.end())
      nest.reads.push_back(std::move(made));
  }
  nest.write = dependency(operation.output, std::move(write));
  nest.write.is_atomic = loops.adds_atomically;
  if (output.changes != kNoBuffer) {
    Dependency target;
    target.buffer = output.changes;
    target.is_whole = true;
    nest.reads.push_back(std::move(target));
  }
}

/// Who reads each buffer, and whether it may be written over by the reader.
void Schedule::connect() {
  for (std::uint32_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    const auto use = [&](BufferId buffer, bool may_overwrite) {
      std::vector<User>& of = users[buffer];
      const auto known =
          std::find_if(of.begin(), of.end(), [i](const User& user) { return user.operation == i; });
      if (known == of.end()) {
        of.push_back({i, may_overwrite});
      } else {
        known->may_overwrite = known->may_overwrite && may_overwrite;
      }
    };
    if (operation.loops == nullptr) {
      for (const BufferId read : operation.reads) use(read, false);
      continue;
    }
    for (const Dependency& read : nests[i].reads) {
      const bool is_same = !read.is_whole && read.index == nests[i].write.index &&
                           read.sizes == nests[i].write.sizes;
      use(read.buffer, is_same);
    }
  }
  // Who reads another name of a buffer reads the buffer.
  for (BufferId id = static_cast<BufferId>(users.size()); id-- > 0;) {
    const BufferId base = program.buffers[id].alias_of;
    if (base == kNoBuffer) continue;
    for (const User& user : users[id]) users[base].push_back({user.operation, false});
  }
}

Step Schedule::step_of(std::uint32_t number) const {
  const Operation& operation = program.operations[number];
  Step step;
  step.operations = {number};
  step.is_library = operation.loops == nullptr;
  if (step.is_library) {
    for (const BufferId read : operation.reads) {
      Dependency dependency;
      dependency.buffer = read;
      dependency.is_whole = true;
      step.reads.push_back(std::move(dependency));
    }
    Dependency write;
    write.buffer = operation.output;
    write.is_whole = true;
    step.writes.push_back(std::move(write));
  } else {
    const LoopNest& nest = nests[number];
    step.is_reduction = operation.loops->is_reduction();
    for (const std::int64_t size : nest.sizes) step.size *= size;
    for (const std::int64_t size : nest.reduced) step.reduced *= size;
    step.reads = nest.reads;
    step.writes = {nest.write};
  }
  for (const Dependency& read : step.reads) {
    if (!is_input(read.buffer) &&
        std::find(step.needs.begin(), step.needs.end(), read.buffer) == step.needs.end())
      step.needs.push_back(read.buffer);
  }
  return step;
}

/// Each behind what it needs, else as they are. Source: torch's topological_sort_schedule.
void Schedule::sort() {
  std::vector<std::int32_t> maker(program.buffers.size(), -1);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const std::uint32_t operation : steps[i].operations)
      maker[program.operations[operation].output] = static_cast<std::int32_t>(i);
  }
  std::vector<bool> is_seen(steps.size());
  std::vector<Step> sorted;
  const std::function<void(std::size_t)> visit = [&](std::size_t i) {
    if (is_seen[i]) return;
    is_seen[i] = true;
    std::vector<BufferId> needs = steps[i].needs;
    std::sort(needs.begin(), needs.end(), [this](BufferId a, BufferId b) {
      return program.buffers[a].name < program.buffers[b].name;
    });
    for (const BufferId need : needs) {
      if (maker[need] >= 0) visit(static_cast<std::size_t>(maker[need]));
    }
    sorted.push_back(std::move(steps[i]));
  };
  for (std::size_t i = 0; i < steps.size(); ++i) visit(i);
  steps = std::move(sorted);
}

void Schedule::remove_dead() {
  std::vector<Step> kept;
  for (std::size_t i = steps.size(); i-- > 0;) {
    const std::uint32_t operation = steps[i].operations.front();
    const BufferId output = program.operations[operation].output;
    const Buffer& buffer = program.buffers[output];
    const bool stays = is_output[output] || !users[output].empty() ||
                       (buffer.changes != kNoBuffer && is_input(original(output)));
    if (stays) {
      kept.push_back(std::move(steps[i]));
      continue;
    }
    is_removed[operation] = true;
    for (const Dependency& read : steps[i].reads) {
      std::erase_if(users[read.buffer],
                    [operation](const User& user) { return user.operation == operation; });
    }
  }
  std::reverse(kept.begin(), kept.end());
  steps = std::move(kept);
}

void Schedule::find_ancestors() {
  std::vector<const Step*> step_of_operation(program.operations.size());
  for (Step& step : steps) {
    for (const BufferId need : step.needs) {
      if (program.buffers[need].maker < 0) continue;
      const auto maker = static_cast<std::uint32_t>(program.buffers[need].maker);
      step.ancestors.insert(maker);
      if (const Step* before = step_of_operation[maker]) step.ancestors.insert(before->ancestors);
    }
    step_of_operation[step.operations.front()] = &step;
  }
}

bool Schedule::may_be_freed(BufferId id) const { return !is_output[id]; }

}  // namespace tidemark::graph::inductor
