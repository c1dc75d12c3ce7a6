// Every setting that Tidemark reads, one row each. docs/adding-a-knob.md tells how to add one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "sim/alloc/knob_values.h"
#include "sim/alloc/settings_reader.h"

namespace tidemark {

namespace {

/// From here '>' leaves the last bucket named as it is.
constexpr Version kDivisionsAboveLast{2, 10};

void read_backend(SettingsReader& reader, KnobValues& /*values*/) {
  const std::string& text = reader.word();
  if (text == "native") {
    reader.choose(Backend::kNative);
  } else if (text == "cudaMallocAsync") {
    reader.choose(Backend::kCudaMallocAsync);
  } else if (text == "naive") {
    reader.choose(Backend::kNaive);
  } else if (text == "ideal") {
    reader.choose(Backend::kIdeal);
  } else {
    reader.refuse(
        "Unknown allocator backend, options are native and cudaMallocAsync",
        "Tidemark's own 'naive' (a device call a tensor) and 'ideal' (live bytes) work too");
  }
}

/// A size in MiB that must not be below the large segment (20 MiB unless large_segment_size_mb says
/// otherwise).
Bytes read_oversize(SettingsReader& reader, const KnobValues& values, std::string_view key) {
  const std::uint64_t number = reader.whole_number();
  const std::uint64_t least = values.large_segment_bytes / kMiB;
  if (reader.lenient() ? number < least : number <= least) {
    reader.refuse(fmt::format("CachingAllocator option {} too small, must be {} {}", key,
                              reader.lenient() ? ">=" : ">", least));
  }
  return SettingsReader::mebibytes(number);
}

void read_large_segment(SettingsReader& reader, KnobValues& values) {
  const std::uint64_t number = reader.whole_number();
  if (number <= 10) reader.refuse("CachingAllocator option large_segment_size_mb must be > 10 MB");
  values.large_segment_bytes = SettingsReader::mebibytes(number);
}

void read_garbage_collection(SettingsReader& reader, KnobValues& values) {
  const double value = reader.fraction();
  if (reader.lenient()) {
    if (!(value > 0 && value < 1))
      reader.refuse("garbage_collect_threshold is invalid, set it in (0.0, 1.0)");
  } else {
    if (!(value > 0)) reader.refuse("garbage_collect_threshold too small, set it 0.0~1.0");
    if (!(value < 1)) reader.refuse("garbage_collect_threshold too big, set it 0.0~1.0");
  }
  values.garbage_collection_threshold = value;
}

void read_memory_fraction(SettingsReader& reader, KnobValues& values) {
  const double value = reader.fraction();
  if (!(value >= 0 && value <= 1))
    reader.refuse("per_process_memory_fraction is invalid, set it in [0.0, 1.0]");
  values.per_process_memory_fraction = value;
}

/// Divisions are kept in 32 bits: the guard of docs/rules/allocator.md#3.1 keeps larger ones from
/// ever mattering.
std::uint32_t kept_divisions(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, std::uint64_t{1} << 31U));
}

/// PyTorch's own spelling.
constexpr const char* word_for_divisions(Version version) {
  return version >= Version{2, 8} ? "divisions" : "divisons";
}

/// One "KEY:VALUE" of the list, after '[' or ','. `last` is the bucket named last.
void read_division(SettingsReader& reader, KnobValues& values, bool& first, std::size_t& last) {
  auto& buckets = values.roundup_power2_divisions;
  const std::size_t key_position = reader.position();
  const std::string key = reader.word();
  reader.separator(':');
  const std::uint64_t value = reader.whole_number();
  const char* const divisions = word_for_divisions(reader.version());
  if (value != 0 && !std::has_single_bit(value)) {
    reader.refuse(fmt::format("For roundups, the {} has to be power of 2 or 0 to disable roundup",
                              divisions));
  }
  const std::size_t value_end = reader.position();
  if (key == ">") {
    const std::size_t from = reader.version() >= kDivisionsAboveLast ? last + 1 : last;
    std::fill(std::next(buckets.begin(), static_cast<std::ptrdiff_t>(from)), buckets.end(),
              kept_divisions(value));
    return;
  }
  reader.seek(key_position);
  const std::uint64_t boundary = reader.whole_number();
  if (!std::has_single_bit(boundary))
    reader.refuse("For roundups, the intervals have to be power of 2");
  const auto bucket =
      std::min(static_cast<std::size_t>(std::countr_zero(boundary)), buckets.size() - 1);
  if (first) std::fill_n(buckets.begin(), bucket, kept_divisions(value));
  first = false;
  buckets.at(bucket) = kept_divisions(value);
  last = bucket;
  reader.seek(value_end);
}

void read_divisions(SettingsReader& reader, KnobValues& values) {
  if (!reader.take_if("[")) {
    const std::uint64_t value = reader.whole_number();
    if (!std::has_single_bit(value)) {
      reader.refuse(fmt::format("For roundups, the {} has to be power of 2",
                                word_for_divisions(reader.version())));
    }
    values.roundup_power2_divisions.fill(kept_divisions(value));
    return;
  }
  bool first = true;
  std::size_t last = 0;
  while (!reader.take_if("]")) {
    read_division(reader, values, first, last);
    if (reader.at_end() || reader.peek() != "]") reader.separator(',');
  }
}

void read_reserve(SettingsReader& reader, KnobValues& values) {
  const std::string text = reader.word();
  const bool gibibytes = text.ends_with('G');
  double value = 0;
  try {
    value = std::stod(text);
  } catch (const std::exception&) {
    value = 0;
  }
  if (!(value > 0) || value > 1e9) {
    reader.warn("expected a fraction above 0 or '<n>G', found '" + text +
                "'; the full range is reserved");
    return;
  }
  if (gibibytes) {
    values.expandable_segments_reserve = {ExpandableReserve::Kind::kBytes, 0,
                                          static_cast<Bytes>(value * static_cast<double>(kGiB))};
  } else {
    values.expandable_segments_reserve = {ExpandableReserve::Kind::kFraction, value, 0};
  }
}

void read_register_threads(SettingsReader& reader, KnobValues& values) {
  const std::uint64_t number = reader.whole_number();
  const std::string got = reader.lenient() ? fmt::format(", got {}", number) : std::string();
  if (!std::has_single_bit(number))
    reader.refuse("Number of register threads has to be power of 2" + got);
  if (number > 128)
    reader.refuse("Number of register threads should be less than or equal to 128" + got);
  values.pinned_num_register_threads = static_cast<std::uint32_t>(number);
}

constexpr Version kAlways = kOldestVersion;

// Keys of pinned host memory are checked and have no effect on the device.
const std::array kKnobs{
    Knob{{"backend", "native|cudaMallocAsync|naive|ideal",
          "which allocator; the last two are Tidemark's", kAlways},
         read_backend,
         false},
    Knob{{"large_segment_size_mb",
          "N",
          "segment of requests above 1 MiB and below 10 MiB (20)",
          {2, 11}},
         read_large_segment},
    Knob{
        {"max_split_size_mb", "N", "blocks from this size on are never split (unlimited)", kAlways},
        [](SettingsReader& reader, KnobValues& values) {
          values.max_split_bytes = read_oversize(reader, values, "max_split_size_mb");
        }},
    Knob{{"max_non_split_rounding_mb",
          "N",
          "how much larger a reused oversize block may be (20)",
          {2, 6}},
         [](SettingsReader& reader, KnobValues& values) {
           values.max_non_split_rounding_bytes =
               read_oversize(reader, values, "max_non_split_rounding_mb");
         }},
    Knob{{"garbage_collection_threshold", "FRACTION",
          "free old blocks above this part of the limit (off)", kAlways},
         read_garbage_collection},
    Knob{{"roundup_power2_divisions", "N|[MB:N,...,>:N]",
          "round sizes up to divisions of powers of two (off)", kAlways},
         read_divisions},
    Knob{{"expandable_segments", "True|False", "grow segments by mapping pages (False)", kAlways},
         [](SettingsReader& reader, KnobValues& values) {
           values.expandable_segments = reader.truth();
         }},
    Knob{{"expandable_segments_reserve",
          "FRACTION|<n>G",
          "address space of an expandable segment (9/8)",
          {2, 15}},
         read_reserve},
    Knob{{"expandable_segments_reserve_by_class",
          "[NAME:VALUE,...]",
          "the same for streams tagged from C++",
          {2, 15}},
         [](SettingsReader& reader, KnobValues& /*values*/) { reader.skip_value(); }},
    Knob{{"per_process_memory_fraction",
          "FRACTION",
          "part of the device that may be used (1)",
          {2, 10}},
         read_memory_fraction},
    Knob{{"throw_on_cudamalloc_oom",
          "True|False",
          "refuse beyond the fraction without reclaiming (False)",
          {2, 12}},
         [](SettingsReader& reader, KnobValues& values) {
           values.throw_on_cudamalloc_oom = reader.truth();
         }},
    Knob{{"graph_capture_record_stream_reuse",
          "True|False",
          "free used blocks within a capture (False)",
          {2, 9}},
         [](SettingsReader& reader, KnobValues& values) {
           values.graph_capture_record_stream_reuse = reader.truth();
         }},
    Knob{{"release_lock_on_cudamalloc", "True|False", "locking only (False)", kAlways},
         [](SettingsReader& reader, KnobValues& values) {
           values.release_lock_on_cudamalloc = reader.truth();
         }},
    Knob{{"release_lock_on_hipmalloc", "True|False", "the same, as ROCm spells it", kAlways},
         [](SettingsReader& reader, KnobValues& values) {
           values.release_lock_on_cudamalloc = reader.truth();
         }},
    Knob{{"pinned_use_cuda_host_register", "True|False", "pinned host memory", kAlways},
         [](SettingsReader& reader, KnobValues& values) {
           values.pinned_use_cuda_host_register = reader.truth();
         }},
    Knob{{"pinned_use_hip_host_register", "True|False", "the same, as ROCm spells it", kAlways},
         [](SettingsReader& reader, KnobValues& values) {
           values.pinned_use_cuda_host_register = reader.truth();
         }},
    Knob{{"pinned_num_register_threads", "N", "pinned host memory (1)", kAlways},
         read_register_threads},
    Knob{{"pinned_use_background_threads", "True|False", "pinned host memory", {2, 6}},
         [](SettingsReader& reader, KnobValues& /*values*/) { reader.truth(); }},
    Knob{{"pinned_reserve_segment_size_mb", "N", "pinned host memory", {2, 10}},
         [](SettingsReader& reader, KnobValues& /*values*/) {
           if (reader.whole_number() == 0)
             reader.refuse("Pinned reserve segment size has to be greater than 0");
         }},
    Knob{{"pinned_free_catch_all", "True|False", "pinned host memory", {2, 12}},
         [](SettingsReader& reader, KnobValues& /*values*/) { reader.truth(); }},
    Knob{{"pinned_max_round_threshold_mb", "N", "pinned host memory", {2, 13}},
         [](SettingsReader& reader, KnobValues& /*values*/) { reader.whole_number(); }},
    Knob{{"pinned_max_cached_size_mb", "N", "pinned host memory", {2, 13}},
         [](SettingsReader& reader, KnobValues& /*values*/) { reader.whole_number(); }},
};

}  // namespace

std::span<const Knob> knobs() { return kKnobs; }

}  // namespace tidemark
