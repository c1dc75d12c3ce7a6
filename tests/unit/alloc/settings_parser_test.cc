#include "sim/alloc/settings_parser.h"
#include "sim/alloc/knob_values.h"

#include <array>

using namespace tidemark;

namespace {

AllocatorSettings read(std::string_view conf, Version version = Version{2, 11}) {
  return parse_settings("conf", conf, version).settings;
}

/// The whole of what the user sees.
std::string refusal(std::string_view conf, Version version = Version{2, 11}) {
  try {
    parse_settings("conf", conf, version);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// Its first line after "conf:LINE:COLUMN: error: ".
std::string message(std::string_view conf, Version version = Version{2, 11}) {
  const std::string text = refusal(conf, version);
  const std::size_t start = text.find("error: ");
  return start == std::string::npos ? text : text.substr(start + 7, text.find('\n') - start - 7);
}

using Divisions = std::array<std::uint32_t, 16>;
constexpr Version k26{2, 6};

}  // namespace

TEST_CASE("an empty text gives PyTorch's defaults") {
  const AllocatorSettings settings = read("", kDefaultWheel.pytorch);
  CHECK(settings == AllocatorSettings{});
  CHECK(settings.knobs->max_split_bytes == kUnlimitedBytes);
  CHECK(settings.knobs->large_segment_bytes == 20 * kMiB);
}

TEST_CASE("every setting that concerns the device is read") {
  const AllocatorSettings settings = read(
      "max_split_size_mb:128,max_non_split_rounding_mb:40,garbage_collection_threshold:0.7,"
      "roundup_power2_divisions:4,expandable_segments:True,per_process_memory_fraction:0.5,"
      "graph_capture_record_stream_reuse:True,release_lock_on_cudamalloc:True,backend:native");
  CHECK(settings.knobs->max_split_bytes == 128 * kMiB);
  CHECK(settings.knobs->max_non_split_rounding_bytes == 40 * kMiB);
  CHECK(settings.knobs->garbage_collection_threshold == 0.7);
  CHECK(settings.knobs->roundup_power2_divisions ==
        Divisions{4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4});
  CHECK(settings.knobs->expandable_segments);
  CHECK(settings.knobs->per_process_memory_fraction == 0.5);
  CHECK(settings.knobs->graph_capture_record_stream_reuse);
  CHECK(settings.knobs->release_lock_on_cudamalloc);
  CHECK(settings.backend == Backend::kNative);
}

TEST_CASE("the large segment is read first and moves the limits of the others") {
  CHECK(read("large_segment_size_mb:64").knobs->large_segment_bytes == 64 * kMiB);
  CHECK(read("large_segment_size_mb:64").knobs->max_non_split_rounding_bytes == 64 * kMiB);
  CHECK(message("max_split_size_mb:32,large_segment_size_mb:64") ==
        "max_split_size_mb: CachingAllocator option max_split_size_mb too small, must be >= 64");
  CHECK(message("large_segment_size_mb:64,max_split_size_mb:32") ==
        "max_split_size_mb: CachingAllocator option max_split_size_mb too small, must be >= 64");
}

// Bucket i is named by its lower end: 1 MiB, 2 MiB, ... 32768 MiB. All of these were read off the
// real parser.
TEST_CASE("a list of divisions fills the buckets as PyTorch does") {
  const auto divisions = [](std::string_view list, Version version = Version{2, 11}) {
    return read(fmt::format("roundup_power2_divisions:{}", list), version)
        .knobs->roundup_power2_divisions;
  };
  CHECK(divisions("[256:1,512:2,1024:4,>:8]") ==
        Divisions{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8});
  CHECK(divisions("[1:4,64:2,>:1]") == Divisions{4, 0, 0, 0, 0, 0, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(divisions("[256:1,512:2,]") == Divisions{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 0, 0, 0, 0, 0, 0});
  CHECK(divisions("[>:2,256:4]") == Divisions{4, 4, 4, 4, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2});
  CHECK(divisions("[1048576:2]") == Divisions{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(divisions("[1:0,>:2]") == Divisions{0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
  CHECK(divisions("[]") == Divisions{});
  // Up to 2.9 '>' overwrites the last bucket named.
  CHECK(divisions("[1:4,64:2,>:1]", k26) ==
        Divisions{4, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(divisions("[1:8,4:2,16:1,64:16,>:2]", k26) ==
        Divisions{8, 0, 2, 0, 1, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2});
}

TEST_CASE("PyTorch's lenient reading is kept") {
  CHECK(read("max_split_size_mb:20.9").knobs->max_split_bytes == 20 * kMiB);
  CHECK(read("max_split_size_mb:25x").knobs->max_split_bytes == 25 * kMiB);
  CHECK(read("max_split_size_mb:+30").knobs->max_split_bytes == 30 * kMiB);
  CHECK(read("max_split_size_mb:30]").knobs->max_split_bytes == 30 * kMiB);
  CHECK(read("max_split_size_mb:\t30").knobs->max_split_bytes == 30 * kMiB);
  CHECK(read("max_split_size_mb:-5").knobs->max_split_bytes == ~Bytes{0} - (kMiB - 1));
  CHECK(read("garbage_collection_threshold:0.5abc").knobs->garbage_collection_threshold == 0.5);
  CHECK(read("expandable_segments:Tr ue").knobs->expandable_segments);
  CHECK(read(" expandable _segments : True ,").knobs->expandable_segments);
  CHECK(read("expandable_segments,True").knobs->expandable_segments);
  CHECK(read("expandable_segments:True:max_split_size_mb:30").knobs->max_split_bytes == 30 * kMiB);
  CHECK(read("expandable_segments:False,expandable_segments:True").knobs->expandable_segments);
  CHECK(read("per_process_memory_fraction:0").knobs->per_process_memory_fraction == 0);
  CHECK(read("pinned_num_register_threads:8").knobs->pinned_num_register_threads == 8);
}

TEST_CASE("values out of range are refused in PyTorch's words") {
  const std::vector<std::pair<std::string, std::string>> expected{
      {"max_split_size_mb:19",
       "max_split_size_mb: CachingAllocator option max_split_size_mb too small, must be >= 20"},
      {"max_split_size_mb:0x20",
       "max_split_size_mb: CachingAllocator option max_split_size_mb too small, must be >= 20"},
      {"max_non_split_rounding_mb:10",
       "max_non_split_rounding_mb: CachingAllocator option max_non_split_rounding_mb too small, "
       "must be >= 20"},
      {"large_segment_size_mb:10",
       "large_segment_size_mb: CachingAllocator option large_segment_size_mb must be > 10 MB"},
      {"garbage_collection_threshold:0",
       "garbage_collection_threshold: garbage_collect_threshold is invalid, set it in (0.0, 1.0)"},
      {"garbage_collection_threshold:1.0",
       "garbage_collection_threshold: garbage_collect_threshold is invalid, set it in (0.0, 1.0)"},
      {"garbage_collection_threshold:nan",
       "garbage_collection_threshold: garbage_collect_threshold is invalid, set it in (0.0, 1.0)"},
      {"per_process_memory_fraction:1.5",
       "per_process_memory_fraction: per_process_memory_fraction is invalid, set it in [0.0, 1.0]"},
      {"roundup_power2_divisions:0",
       "roundup_power2_divisions: For roundups, the divisions has to be power of 2"},
      {"roundup_power2_divisions:[256:3]",
       "roundup_power2_divisions: For roundups, the divisions has to be power of 2 or 0 to disable "
       "roundup"},
      {"roundup_power2_divisions:[0:2]",
       "roundup_power2_divisions: For roundups, the intervals have to be power of 2"},
      {"roundup_power2_divisions:[-1:2]",
       "roundup_power2_divisions: For roundups, the intervals have to be power of 2"},
      {"expandable_segments:true",
       "expandable_segments: Expected 'True' or 'False' at index 2 in ConfigTokenizer but got "
       "'true'; did you mean 'True'?"},
      {"expandable_segments::True",
       "expandable_segments: Expected 'True' or 'False' at index 2 in ConfigTokenizer but got ':'"},
      {"pinned_num_register_threads:3",
       "pinned_num_register_threads: Number of register threads has to be power of 2, got 3"},
      {"pinned_num_register_threads:256",
       "pinned_num_register_threads: Number of register threads should be less than or equal to "
       "128, got 256"},
      {"pinned_reserve_segment_size_mb:0",
       "pinned_reserve_segment_size_mb: Pinned reserve segment size has to be greater than 0"},
      {"backend:foo",
       "backend: Unknown allocator backend, options are native and cudaMallocAsync; Tidemark's own "
       "'naive' (a device call a tensor) and 'ideal' (live bytes) work too"},
  };
  for (const auto& [conf, text] : expected) CHECK(message(conf) == text);
}

TEST_CASE("numbers that PyTorch cannot convert are told in plain words with its own") {
  CHECK(message("max_split_size_mb:abc") ==
        "max_split_size_mb: expected a whole number, found 'abc' (PyTorch: RuntimeError: stoull)");
  CHECK(message("max_split_size_mb:99999999999999999999") ==
        "max_split_size_mb: expected a number that fits, found '99999999999999999999' (PyTorch: "
        "RuntimeError: stoull)");
  CHECK(message("max_split_size_mb:[30]") ==
        "max_split_size_mb: expected a whole number, found '[' (PyTorch: RuntimeError: stoull)");
  CHECK(message("per_process_memory_fraction:x") ==
        "per_process_memory_fraction: expected a number, found 'x' (PyTorch: RuntimeError: stod)");
  CHECK(message("max_split_size_mb:abc", k26) ==
        "max_split_size_mb: expected a whole number, found 'abc' (PyTorch: RuntimeError: stoi)");
}

TEST_CASE("a text that ends too early is refused") {
  const std::string missing =
      "the value is missing (PyTorch: Index out of bounds in ConfigTokenizer)";
  CHECK(message("max_split_size_mb") == missing + "; write 'max_split_size_mb:VALUE'");
  CHECK(message("expandable_segments:") ==
        "expandable_segments: " + missing + "; write 'expandable_segments:True'");
  CHECK(message("roundup_power2_divisions:[256:1,512:2").find(missing) != std::string::npos);
  CHECK(message("roundup_power2_divisions:[256]").find(missing) != std::string::npos);
}

TEST_CASE("an unknown key names what was probably meant") {
  const auto unknown = [](std::string_view key) {
    return fmt::format("Unrecognized key '{}' in CUDA allocator config.; ", key);
  };
  CHECK(message("expandable_segment:True") ==
        unknown("expandable_segment") + "did you mean 'expandable_segments'?");
  CHECK(message("max_split_size:30") ==
        unknown("max_split_size") + "did you mean 'max_split_size_mb'?");
  CHECK(message("expandable_segments=True") ==
        unknown("expandable_segments=True") + "write 'expandable_segments:True'");
  CHECK(message("expandable_segments True") ==
        unknown("expandable_segmentsTrue") + "write 'expandable_segments:True'");
  CHECK(message("throw_on_cudamalloc_oom:True") ==
        unknown("throw_on_cudamalloc_oom") + "PyTorch 2.12 is the first to know it; this is 2.11");
  CHECK(message("expandable_segments:True,,max_split_size_mb:30") ==
        unknown(",") + "expected a setting's name here");
  CHECK(message("foo:1") == "Unrecognized key 'foo' in CUDA allocator config.");
}

TEST_CASE("every problem of a text is told at once, each with its place") {
  CHECK(refusal("max_split_size_mb:10,foo:1,expandable_segments:yes") ==
        "conf:1:19: error: max_split_size_mb: CachingAllocator option max_split_size_mb too small, "
        "must be >= 20\n"
        "    max_split_size_mb:10,foo:1,expandable_segments:yes\n"
        "                      ^~\n"
        "conf:1:22: error: Unrecognized key 'foo' in CUDA allocator config.\n"
        "    max_split_size_mb:10,foo:1,expandable_segments:yes\n"
        "                         ^~~\n"
        "conf:1:48: error: expandable_segments: Expected 'True' or 'False' at index 10 in "
        "ConfigTokenizer but got 'yes'\n"
        "    max_split_size_mb:10,foo:1,expandable_segments:yes\n"
        "                                                   ^~~\n");
}

TEST_CASE("older releases insist on separators and have their own words") {
  CHECK(message("max_split_size_mb:20", k26) ==
        "max_split_size_mb: CachingAllocator option max_split_size_mb too small, must be > 20");
  CHECK(read("max_split_size_mb:21", k26).knobs->max_split_bytes == 21 * kMiB);
  CHECK(message("expandable_segments,True", k26) ==
        "expandable_segments: Error parsing CachingAllocator settings, expected :");
  CHECK(message("expandable_segments:true", k26) ==
        "expandable_segments: Expected a single True/False argument for expandable_segments; did "
        "you mean 'True'?");
  CHECK(message("foo:1", k26) == "Unrecognized CachingAllocator option: foo");
  CHECK(message("foo:1", {2, 9}) == "Unrecognized CachingAllocator option: foo");
  CHECK(message("foo:1", {2, 10}) == "Unrecognized key 'foo' in CUDA allocator config.");
  CHECK(message("roundup_power2_divisions:3", {2, 7}) ==
        "roundup_power2_divisions: For roundups, the divisons has to be power of 2");
  CHECK(message("roundup_power2_divisions:3", {2, 8}) ==
        "roundup_power2_divisions: For roundups, the divisions has to be power of 2");
  CHECK(message("large_segment_size_mb:64", k26) ==
        "Unrecognized CachingAllocator option: large_segment_size_mb; PyTorch 2.11 is the first to "
        "know it; this is 2.6");
  CHECK(message("garbage_collection_threshold:0", k26) ==
        "garbage_collection_threshold: garbage_collect_threshold too small, set it 0.0~1.0");
  CHECK(message("max_split_size_mb", k26) == "Error parsing CachingAllocator settings, expected :");
}

TEST_CASE("each release knows its own settings") {
  const std::vector<std::pair<std::string, Version>> since{
      {"large_segment_size_mb:64", {2, 11}},        {"per_process_memory_fraction:0.5", {2, 10}},
      {"throw_on_cudamalloc_oom:True", {2, 12}},    {"pinned_free_catch_all:True", {2, 12}},
      {"pinned_max_round_threshold_mb:5", {2, 13}}, {"expandable_segments_reserve:0.5", {2, 15}},
  };
  for (const auto& [conf, version] : since) {
    CHECK(refusal(conf, version) == "accepted");
    const Version before{2, static_cast<std::uint8_t>(version.minor - 1)};
    CHECK(refusal(conf, before) != "accepted");
  }
}

TEST_CASE("the reserve of expandable segments") {
  constexpr Version k215{2, 15};
  using Kind = ExpandableReserve::Kind;
  CHECK(read("expandable_segments_reserve:0.25", k215).knobs->expandable_segments_reserve ==
        ExpandableReserve{Kind::kFraction, 0.25, 0});
  CHECK(read("expandable_segments_reserve:48G", k215).knobs->expandable_segments_reserve ==
        ExpandableReserve{Kind::kBytes, 0, 48 * kGiB});
  const ParsedSettings bad = parse_settings("conf", "expandable_segments_reserve:-1", k215);
  CHECK(bad.settings.knobs->expandable_segments_reserve == ExpandableReserve{});
  REQUIRE(bad.warnings.size() == 1);
  CHECK(bad.warnings[0].message ==
        "expected a fraction above 0 or '<n>G', found '-1'; the full range is reserved");
}

TEST_CASE("the asynchronous backend warns of what it ignores") {
  const ParsedSettings parsed =
      parse_settings("conf", "backend:cudaMallocAsync,max_split_size_mb:30");
  CHECK(parsed.settings.backend == Backend::kCudaMallocAsync);
  REQUIRE(parsed.warnings.size() == 1);
  CHECK(render_problem(parsed.warnings[0]) ==
        "error: max_split_size_mb: backend:cudaMallocAsync ignores it\n");
  CHECK(parse_settings("conf", "backend:naive").settings.backend == Backend::kNaive);
}
