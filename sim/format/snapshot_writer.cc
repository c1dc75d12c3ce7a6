#include "sim/format/snapshot_writer.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>

#include "sim/alloc/knob_values.h"
#include "sim/format/pickle_writer.h"

namespace tidemark {

namespace {

/// Simulated time begins at 0; a recording's at some moment of the epoch. Year 2001, and a round
/// number to subtract.
constexpr std::int64_t kStartUs = 1'000'000'000'000'000;

class SnapshotWriter {
 public:
  SnapshotWriter(std::span<const SnapshotDevice> devices, const AllocatorSettings& settings,
                 std::string& out)
      : devices_(devices), settings_(settings), pickle_(out) {}

  void write() {
    pickle_.begin_dict();
    pickle_.value("segments");
    write_segments();
    pickle_.value("device_traces");
    write_traces();
    pickle_.value("allocator_settings");
    write_settings();
    pickle_.value("external_annotations");
    write_annotations();
    pickle_.end_dict();
    pickle_.finish();
  }

 private:
  static std::int64_t time_us(const SnapshotDevice& device, std::size_t event) {
    if (event < device.times_ns.size()) return kStartUs + device.times_ns[event] / 1000;
    return kStartUs + static_cast<std::int64_t>(event);
  }

  void stack(std::string_view label) {
    if (label.empty()) {
      pickle_.empty_list();
      return;
    }
    if (const auto found = stacks_.find(label); found != stacks_.end()) {
      pickle_.again(found->second);
      return;
    }
    pickle_.begin_list();
    for (const std::string_view frame : label_frames(label)) {
      pickle_.begin_dict();
      pickle_.member("name", frame);
      pickle_.member("filename", "tidemark");
      pickle_.member("line", std::uint64_t{0});
      pickle_.end_dict();
    }
    pickle_.end_list();
    stacks_.emplace(label, pickle_.remember());
  }

  /// The label of each request's alloc, for the blocks that are live at the end.
  std::vector<std::string_view> labels_by_id(const SnapshotDevice& device) const {
    std::vector<std::string_view> labels;
    for (std::size_t i = 0; i < device.labels.size(); ++i) {
      const Event& event = device.events[i];
      if (event.action != Action::kAlloc) continue;
      if (event.id >= labels.size()) labels.resize(event.id + std::size_t{1});
      labels[event.id] = device.labels[i];
    }
    return labels;
  }

  void write_segments() {
    bool any = false;
    for (const SnapshotDevice& device : devices_) any = any || !device.segments.empty();
    if (!any) {
      pickle_.empty_list();
      return;
    }
    pickle_.begin_list();
    for (const SnapshotDevice& device : devices_) {
      const std::vector<std::string_view> labels = labels_by_id(device);
      for (const SegmentInfo& segment : device.segments) write_segment(segment, labels);
    }
    pickle_.end_list();
  }

  void write_segment(const SegmentInfo& segment, const std::vector<std::string_view>& labels) {
    pickle_.begin_dict();
    pickle_.member("device", std::uint32_t{segment.device});
    pickle_.member("address", segment.address);
    pickle_.member("total_size", segment.total_bytes);
    pickle_.member("allocated_size", segment.allocated_bytes);
    pickle_.member("active_size", segment.active_bytes);
    pickle_.member("requested_size", segment.requested_bytes);
    pickle_.member("stream", std::uint32_t{segment.stream});
    pickle_.member("segment_type", segment.kind == PoolKind::kSmall ? "small" : "large");
    pickle_.value("segment_pool_id");
    pickle_.pair(segment.pool.capture, segment.pool.user);
    pickle_.member("is_expandable", segment.expandable);
    pickle_.value("frames");
    pickle_.empty_list();
    pickle_.value("blocks");
    pickle_.begin_list();
    for (const BlockInfo& block : segment.blocks) {
      pickle_.begin_dict();
      pickle_.member("address", block.address);
      pickle_.member("size", block.bytes);
      pickle_.member("requested_size", block.requested_bytes);
      pickle_.member("state", block_state_name(block.state));
      pickle_.value("frames");
      const bool active = block.state != BlockState::kInactive && block.id < labels.size();
      stack(active ? labels[block.id] : std::string_view());
      pickle_.end_dict();
    }
    pickle_.end_list();
    pickle_.end_dict();
  }

  void write_traces() {
    if (devices_.empty()) {
      pickle_.empty_list();
      return;
    }
    pickle_.begin_list();
    for (const SnapshotDevice& device : devices_) {
      if (device.events.empty()) {
        pickle_.empty_list();
        continue;
      }
      pickle_.begin_list();
      std::size_t phase = 0;
      for (std::size_t i = 0; i < device.events.size(); ++i) {
        while (phase < device.phases.size() &&
               i >= device.phases[phase].first_event + device.phases[phase].events)
          ++phase;
        const bool named = phase < device.phases.size() && i >= device.phases[phase].first_event;
        write_event(device, i, named ? device.phases[phase].name : std::string_view());
      }
      pickle_.end_list();
    }
    pickle_.end_list();
  }

  void write_event(const SnapshotDevice& device, std::size_t index, std::string_view phase) {
    const Event& event = device.events[index];
    pickle_.begin_dict();
    pickle_.member("action", action_name(event.action));
    pickle_.member(event.action == Action::kOom ? "device_free" : "addr", event.address);
    pickle_.member("size", event.bytes);
    pickle_.member("stream", std::uint32_t{event.stream});
    pickle_.member("time_us", time_us(device, index));
    pickle_.member("compile_context", "N/A");
    const bool told =
        event.id < device.categories.size() && device.categories[event.id] != Category::kUnknown;
    if (told) {
      const std::string_view category =
          kCategoryNames[static_cast<std::size_t>(device.categories[event.id])];
      const std::string text = fmt::format("{}{}[{}]", phase, phase.empty() ? "" : " ", category);
      pickle_.member("user_metadata", std::string_view(text));
    } else {
      pickle_.member("user_metadata", phase);
    }
    if (index < device.labels.size() && !device.labels[index].empty()) {
      pickle_.value("frames");
      stack(device.labels[index]);
    }
    pickle_.end_dict();
  }

  void write_settings() {
    pickle_.begin_dict();
    pickle_.member("PYTORCH_CUDA_ALLOC_CONF", std::string_view(settings_.text));
    pickle_.value("max_split_size");
    pickle_.value(settings_.knobs->max_split_bytes == kUnlimitedBytes
                      ? std::int64_t{-1}
                      : static_cast<std::int64_t>(settings_.knobs->max_split_bytes));
    pickle_.member("garbage_collection_threshold", settings_.knobs->garbage_collection_threshold);
    pickle_.member("expandable_segments", settings_.knobs->expandable_segments);
    pickle_.member("pinned_num_register_threads", settings_.knobs->pinned_num_register_threads);
    pickle_.member("release_lock_on_cudamalloc", settings_.knobs->release_lock_on_cudamalloc);
    pickle_.member("pinned_use_cuda_host_register", settings_.knobs->pinned_use_cuda_host_register);
    pickle_.member("graph_capture_record_stream_reuse",
                   settings_.knobs->graph_capture_record_stream_reuse);
    pickle_.value("roundup_power2_divisions");
    pickle_.begin_dict();
    for (std::size_t i = 0; i < settings_.knobs->roundup_power2_divisions.size(); ++i) {
      pickle_.member(std::to_string(1U << i), settings_.knobs->roundup_power2_divisions[i]);
    }
    pickle_.end_dict();
    pickle_.end_dict();
  }

  void write_annotations() {
    bool any = false;
    for (const SnapshotDevice& device : devices_) any = any || !device.phases.empty();
    if (!any) {
      pickle_.empty_list();
      return;
    }
    pickle_.begin_list();
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      const SnapshotDevice& device = devices_[d];
      for (const SnapshotPhase& phase : device.phases) {
        if (phase.name.empty() || phase.events == 0) continue;
        annotation(phase.name, "START", d, time_us(device, phase.first_event));
        annotation(phase.name, "END", d, time_us(device, phase.first_event + phase.events - 1));
      }
    }
    pickle_.end_list();
  }

  void annotation(std::string_view name, const char* stage, std::size_t device, std::int64_t time) {
    pickle_.begin_dict();
    pickle_.member("name", name);
    pickle_.member("stage", stage);
    pickle_.member("device", static_cast<std::uint64_t>(device));
    pickle_.member("time_us", time);
    pickle_.end_dict();
  }

  std::span<const SnapshotDevice> devices_;
  const AllocatorSettings& settings_;
  PickleWriter pickle_;
  std::unordered_map<std::string_view, std::uint32_t> stacks_;
};

}  // namespace

std::vector<std::string_view> label_frames(std::string_view label) {
  std::vector<std::string_view> outer_first;
  if (const std::size_t colon = label.find(": "); colon != std::string_view::npos) {
    outer_first.push_back(label.substr(0, colon));
    label.remove_prefix(colon + 2);
  }
  while (true) {
    const std::size_t next = label.find('>');
    if (const std::string_view part = label.substr(0, next); !part.empty())
      outer_first.push_back(part);
    if (next == std::string_view::npos) break;
    label.remove_prefix(next + 1);
  }
  return {outer_first.rbegin(), outer_first.rend()};
}

void write_snapshot(std::span<const SnapshotDevice> devices, const AllocatorSettings& settings,
                    std::string& out) {
  SnapshotWriter(devices, settings, out).write();
}

}  // namespace tidemark
