#include "sim/run/left_out.h"

#include <utility>

#include "sim/run/peak_keeper.h"

namespace tidemark {

StepGrowth LeftOut::whole(StepGrowth simulated) const {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    StepGrowth::Device& device = simulated.devices[i];
    add_to(i, device.statistics);
    device.events += devices_[i].events;
    device.device_calls += devices_[i].device_calls;
    device.device_call_ns += devices_[i].device_call_ns;
  }
  simulated.instructions += instructions_;
  return simulated;
}

void LeftOut::add_to(std::size_t device, AllocatorStatistics& statistics) const {
  add_growth(statistics, {}, devices_[device].statistics, 1);
}

std::size_t LeftOut::keep(StepGrowth simulated) {
  moments_.push_back(whole(std::move(simulated)));
  return moments_.size() - 1;
}

Nanoseconds LeftOut::repeat(std::size_t since, const Repeat& repeat, StepGrowth simulated) {
  const StepGrowth& then = moments_[since];
  RepeatResult& result = repeats_.emplace_back();
  for (const StepGrowth::Device& device : simulated.devices)
    result.before_event.push_back(static_cast<std::uint32_t>(device.events));
  const StepGrowth now = whole(std::move(simulated));
  const auto times = static_cast<std::int64_t>(repeat.times);
  result.repeat = repeat;
  result.instructions = repeat.times * (now.instructions - then.instructions);
  result.duration_ns = times * (now.now_ns - then.now_ns);
  instructions_ += result.instructions;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const StepGrowth::Device& before = then.devices[i];
    const StepGrowth::Device& after = now.devices[i];
    StepGrowth::Device& sum = devices_[i];
    add_growth(sum.statistics, before.statistics, after.statistics, times);
    result.events.push_back(repeat.times * (after.events - before.events));
    sum.events += result.events.back();
    sum.device_calls += repeat.times * (after.device_calls - before.device_calls);
    sum.device_call_ns += times * (after.device_call_ns - before.device_call_ns);
  }
  return result.duration_ns;
}

std::vector<RepeatResult> LeftOut::finish() { return std::move(repeats_); }

}  // namespace tidemark
