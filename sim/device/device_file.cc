#include "sim/device/device.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "sim/base/problem.h"
#include "sim/yaml/yaml_fields.h"

namespace tidemark {
namespace {

namespace form = yaml::form;

constexpr yaml::Form kTextForm = form::text();
constexpr yaml::Form kBytes = form::integer(1);

constexpr yaml::Field kRateFields[] = {
    {"fp32", form::integer(1), "dense, without sparsity"},
    {"tf32", form::integer(1), "tensor cores"},
    {"fp16", form::integer(1), "tensor cores"},
    {"bf16", form::integer(1), "tensor cores"},
    {"fp64", form::integer(1), "dense, without sparsity"},
    {"fp8", form::integer(1), "tensor cores"},
    {"fp16_accumulated", form::integer(1), "tensor cores that sum up in fp16 (default: fp16)"},
};
constexpr yaml::Map kRatesMap{kRateFields};

constexpr yaml::Field kDeviceFileFields[] = {
    {"schema_version", form::integer(1, 1), "the version of this format", true},
    {"id", kTextForm, "short name: h100-sxm-80gb", true},
    {"name", kTextForm, "as the driver says it", true},
    {"aliases", form::list_of(kTextForm), "other names that scenarios may use"},
    {"compute_capability", form::text("^[1-9][0-9]?\\.[0-9]$"), "as text: \"9.0\"", true},
    {"marketing_gb", form::integer(1, 1'000'000), "what it is sold as"},
    {"total_memory_bytes", form::bytes(), "cudaGetDeviceProperties: the capacity that counts",
     true},
    {"total_memory_seen", form::list_of(kBytes), "other totals that drivers have reported"},
    {"nvidia_smi_mib", form::integer(0, std::int64_t{1} << 40), "what nvidia-smi calls the total"},
    {"context_bytes", form::bytes(), "gone once a CUDA context exists", true},
    {"context_basis", kTextForm, "measured, or the rule that gives it"},
    {"sm_count", form::integer(0, 100'000), "multiprocessors", true},
    {"max_threads_per_sm", form::integer(0, 100'000), "threads of a multiprocessor", true},
    {"smem_optin_bytes", form::bytes(), "shared memory that a block may ask for"},
    {"l2_bytes", form::bytes(), "size of the L2 cache", true},
    {"bandwidth_bytes_per_s", form::bytes(), "of the device's memory", true},
    {"peak_flops", form::map(kRatesMap), "operations a second, by type"},
    {"confidence", form::map_of(kTextForm), "how well each figure is known"},
    {"notes", kTextForm, "what else is to be known"},
    {"sources", form::list_of(kTextForm), "where the figures come from"}};

/// "9.0" as 90.
std::optional<int> parse_capability(std::string_view text) {
  int major = 0;
  int minor = 0;
  const auto [dot, error] = std::from_chars(text.data(), text.data() + text.size(), major);
  if (error != std::errc() || dot == text.data() + text.size() || *dot != '.') return std::nullopt;
  const auto [end, minor_error] = std::from_chars(dot + 1, text.data() + text.size(), minor);
  if (minor_error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (major < 1 || major > 99 || minor < 0 || minor > 9) return std::nullopt;
  return major * 10 + minor;
}

/// From compute capability 8 each block gives 1 KiB of a multiprocessor's shared memory to the
/// system. Source: CUDA C++ programming guide, "Compute Capabilities", shared memory.
Bytes shared_memory_per_sm(Bytes per_block_optin, int capability) {
  return per_block_optin == 0 || capability < 80 ? per_block_optin : per_block_optin + kKiB;
}

std::vector<std::string> texts(yaml::Fields& fields, std::string_view key) {
  std::vector<std::string> result;
  const yaml::Node* list = fields.get(key);
  if (list == nullptr) return result;
  if (list->kind != yaml::Node::Kind::kList) {
    fields.report(*list, key, fmt::format("expected a list, found {}", describe(*list)));
    return result;
  }
  for (const yaml::Node& item : list->items) {
    if (item.is_text()) {
      result.push_back(item.text);
    } else {
      fields.report(item, key, fmt::format("expected text, found {}", describe(item)));
    }
  }
  return result;
}

class Reader {
 public:
  explicit Reader(const yaml::Node& root) : fields_(root, {}, problems_, kDeviceFileMap) {}

  Device read() {
    fields_.require_all();
    fields_.integer("schema_version");
    DeviceSpec& spec = device_.spec;
    spec.id = fields_.text("id").value_or("");
    spec.name = fields_.text("name").value_or("");
    device_.aliases = texts(fields_, "aliases");
    read_capability();
    device_.marketing_gb = fields_.integer("marketing_gb").value_or(0);
    spec.total_bytes = bytes("total_memory_bytes");
    read_totals_seen();
    device_.nvidia_smi_bytes = amount("nvidia_smi_mib") * kMiB;
    spec.context_bytes = bytes("context_bytes");
    device_.context_basis = fields_.text("context_basis").value_or("");
    spec.sm_count = static_cast<int>(amount("sm_count"));
    spec.max_threads_per_sm = static_cast<int>(amount("max_threads_per_sm"));
    spec.shared_memory_per_block_optin = bytes("smem_optin_bytes");
    spec.shared_memory_per_sm =
        shared_memory_per_sm(spec.shared_memory_per_block_optin, spec.compute_capability);
    spec.l2_bytes = bytes("l2_bytes");
    spec.memory_bytes_per_s = bytes("bandwidth_bytes_per_s");
    read_rates();
    read_confidence();
    device_.notes = fields_.text("notes").value_or("");
    device_.sources = texts(fields_, "sources");
    fields_.done();
    check_amounts();
    if (!problems_.empty()) throw InputError(std::move(problems_));
    return std::move(device_);
  }

 private:
  Bytes bytes(std::string_view key) { return fields_.bytes(key).value_or(0); }
  std::uint64_t amount(std::string_view key) {
    return static_cast<std::uint64_t>(fields_.integer(key).value_or(0));
  }

  void read_capability() {
    const yaml::Node* node = fields_.get("compute_capability");
    if (node == nullptr) return;
    const std::optional<int> read = node->is_text() ? parse_capability(node->text) : std::nullopt;
    if (!read) {
      fields_.report(*node, "compute_capability",
                     fmt::format("expected a version like \"9.0\", found {}", describe(*node)));
    }
    device_.spec.compute_capability = read.value_or(0);
  }

  void read_totals_seen() {
    const yaml::Node* list = fields_.get("total_memory_seen");
    if (list == nullptr) return;
    for (const yaml::Node& item : list->items) {
      const std::optional<std::int64_t> value = yaml::integer(item);
      if (value && *value > 0) {
        device_.total_bytes_seen.push_back(static_cast<Bytes>(*value));
      } else {
        fields_.report(item, "total_memory_seen",
                       fmt::format("expected whole bytes, found {}", describe(item)));
      }
    }
  }

  void read_rates() {
    const yaml::Node* node = fields_.get("peak_flops");
    if (node == nullptr) return;
    yaml::Fields rates(*node, "peak_flops", problems_, kRatesMap);
    const auto rate = [&](std::string_view key) {
      return static_cast<std::uint64_t>(rates.integer(key).value_or(0));
    };
    DeviceSpec& spec = device_.spec;
    spec.fp32_flops_per_s = rate("fp32");
    spec.tf32_flops_per_s = rate("tf32");
    spec.fp16_flops_per_s = rate("fp16");
    spec.bf16_flops_per_s = rate("bf16");
    spec.fp64_flops_per_s = rate("fp64");
    spec.fp8_flops_per_s = rate("fp8");
    spec.fp16_accumulated_flops_per_s = rate("fp16_accumulated");
    rates.done();
  }

  void read_confidence() {
    const yaml::Node* node = fields_.get("confidence");
    if (node == nullptr) return;
    for (const yaml::Entry& entry : node->entries)
      device_.confidence.emplace_back(entry.key, entry.value.text);
  }

  void check_amounts() {
    if (!problems_.empty()) return;
    const DeviceSpec& spec = device_.spec;
    constexpr Bytes kLargest = Bytes{1} << 50;
    if (spec.total_bytes == 0 || spec.total_bytes > kLargest) {
      fields_.report(
          *fields_.get("total_memory_bytes"), "total_memory_bytes",
          fmt::format("must lie between 1 and {}, found {}", kLargest, spec.total_bytes));
    } else if (spec.context_bytes >= spec.total_bytes) {
      fields_.report(*fields_.get("context_bytes"), "context_bytes",
                     fmt::format("must be less than total_memory_bytes, {}, found {}",
                                 spec.total_bytes, spec.context_bytes));
    }
  }

  std::vector<Problem> problems_;
  yaml::Fields fields_;
  Device device_;
};

}  // namespace

constexpr yaml::Map kDeviceFileMap{kDeviceFileFields};

Device parse_device(const std::shared_ptr<const SourceText>& source) {
  const yaml::Node root = yaml::parse(source);
  return Reader(root).read();
}

}  // namespace tidemark
