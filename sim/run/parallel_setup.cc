#include "sim/run/parallel_setup.h"

#include <fmt/format.h>

#include "sim/run/literals.h"

namespace tidemark {

namespace {

/// Ranks that a plan's module is shared by, those that shard, and the copies; together all.
void add_mesh(const ParallelSpec& spec, std::vector<std::string>& lines) {
  // What lies on the host is reduced there, by gloo.
  lines.push_back(fmt::format("torch.distributed.init_process_group(\"{}\")",
                              spec.offload ? "cpu:gloo,cuda:nccl" : "nccl"));
  lines.emplace_back("torch.cuda.set_device(torch.distributed.get_node_local_rank())");
  lines.emplace_back("_world = torch.distributed.get_world_size()");
  lines.push_back(fmt::format("_replicate, _tp = {}, {}", spec.replicate, spec.tp));
  lines.push_back(spec.fsdp.empty() ? "_shard = _world // (_replicate * _tp)"
                                    : fmt::format("_shard = {}", spec.fsdp));
  lines.emplace_back("if _replicate * _shard * _tp != _world:");
  lines.emplace_back(
      "    raise ValueError(f\"train.parallel: replicate {_replicate} x fsdp {_shard} x tp {_tp} "
      "\"");
  lines.emplace_back("                     f\"is not the world of {_world} ranks\")");
  lines.emplace_back("_sizes = {\"replicate\": _replicate, \"shard\": _shard, \"tp\": _tp}");
  lines.emplace_back(
      "_sizes = {name: size for name, size in _sizes.items() if size > 1 or name == \"shard\"}");
  lines.emplace_back(
      "_mesh = torch.distributed.device_mesh.init_device_mesh(\"cuda\", tuple(_sizes.values()), "
      "mesh_dim_names=tuple(_sizes))");
}

void add_plan(const ParallelSpec& spec, std::vector<std::string>& lines) {
  lines.emplace_back("if _tp > 1:");
  lines.emplace_back(
      "    from torch.distributed.tensor.parallel import (ColwiseParallel, RowwiseParallel, "
      "SequenceParallel, parallelize_module)");
  lines.emplace_back("    from torch.distributed.tensor import Replicate");
  lines.emplace_back("    parallelize_module(model, _mesh[\"tp\"], {");
  for (const auto& [path, style] : spec.plan)
    lines.push_back(fmt::format("        {}: {},", quoted_literal(path), style));
  lines.emplace_back("    })");
}

void add_sharding(const ParallelSpec& spec, std::vector<std::string>& lines) {
  lines.emplace_back(
      "from torch.distributed.fsdp import (CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard)");
  lines.emplace_back("def _blocks(module):");
  lines.emplace_back("    if isinstance(module, (nn.ModuleList, nn.Sequential)):");
  lines.emplace_back("        return [part for part in module if list(part.children())]");
  lines.emplace_back("    return [part for child in module.children() for part in _blocks(child)]");
  std::string options = fmt::format("reshard_after_forward={}", spec.reshard ? "True" : "False");
  if (spec.precision) {
    options +=
        fmt::format(", mp_policy=MixedPrecisionPolicy(param_dtype={}, reduce_dtype=torch.float32)",
                    *spec.precision);
  }
  if (spec.offload) options += ", offload_policy=CPUOffloadPolicy()";
  lines.emplace_back(
      "_over = _mesh[\"replicate\", \"shard\"] if _replicate > 1 else _mesh[\"shard\"]");
  lines.emplace_back("for _block in _blocks(model):");
  lines.push_back(fmt::format("    fully_shard(_block, mesh=_over, {})", options));
  lines.push_back(fmt::format("fully_shard(model, mesh=_over, {})", options));
}

}  // namespace

std::vector<std::string> parallel_setup(const ParallelSpec& spec) {
  std::vector<std::string> lines;
  add_mesh(spec, lines);
  if (!spec.plan.empty()) add_plan(spec, lines);
  add_sharding(spec, lines);
  return lines;
}

}  // namespace tidemark
