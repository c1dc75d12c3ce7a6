#include "sim/run/backends_reader.h"

#include <fmt/format.h>

#include "sim/run/scenario_fields.h"
#include "sim/yaml/yaml_fields.h"

namespace tidemark {

namespace {

void read_cudnn(yaml::Fields& map, ops::Backends& backends) {
  const yaml::Node* cudnn = map.get("cudnn");
  if (cudnn == nullptr) return;
  if (cudnn->is_text() && cudnn->text == "benchmark") {
    backends.cudnn_benchmark = true;
  } else if (const std::optional<bool> on = yaml::boolean(*cudnn)) {
    backends.cudnn = *on;
  } else {
    map.report(*cudnn, "cudnn",
               fmt::format("expected true, false or benchmark, found {}", describe(*cudnn)));
  }
}

void read_cublas(yaml::Fields& map, ops::CublasSettings& cublas) {
  if (const auto config = map.text("cublas_workspace_config")) {
    cublas.workspace = ops::read_workspace_config(*config);
    if (!cublas.workspace) {
      map.report(*map.get("cublas_workspace_config"), "cublas_workspace_config",
                 fmt::format("expected pairs of KiB and count, :4096:8, found '{}'", *config));
    }
  }
  if (const auto kib = map.integer("cublaslt_workspace_size"))
    cublas.lt_workspace = static_cast<Bytes>(*kib) * kKiB;
  cublas.cache = map.boolean("cublas_workspace_cache");
}

}  // namespace

void read_backends(const yaml::Node& node, ops::Backends& backends,
                   std::vector<Problem>& problems) {
  yaml::Fields map(node, "backends", problems, kBackendsMap);
  read_cudnn(map, backends);
  backends.cudnn_workspace = map.bytes("cudnn_workspace").value_or(0);
  read_cublas(map, backends.cublas);
  const auto read = [&](std::string_view key, bool& into) {
    into = map.boolean(key).value_or(into);
  };
  read("cudnn_sdp", backends.cudnn_sdp);
  read("flash", backends.flash_sdp);
  read("efficient", backends.mem_efficient_sdp);
  read("math", backends.math_sdp);
  read("tf32", backends.tf32);
  read("cudnn_tf32", backends.cudnn_tf32);
  read("fp16_accumulation", backends.fp16_accumulation);
  read("deterministic", backends.deterministic);
  map.done();
}

}  // namespace tidemark
