#include "sim/run/parallel_setup.h"

#include <algorithm>

#include <fmt/format.h>

#include "sim/run/literals.h"

namespace tidemark {

namespace {

using Lines = std::vector<std::string>;

/// Lines of a text, at an indentation of `depth` blocks.
void add_text(std::string_view text, Lines& lines, std::size_t depth = 0) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(std::string(depth * 4, ' ') + std::string(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

/// The ranks by what they share, from the outermost dimension of the mesh to the innermost.
void add_mesh(const ParallelSpec& spec, Lines& lines) {
  // What lies on the host is reduced there, by gloo.
  lines.push_back(fmt::format("torch.distributed.init_process_group(\"{}\")",
                              spec.offload ? "cpu:gloo,cuda:nccl" : "nccl"));
  lines.push_back(fmt::format("_replicate, _tp, _cp, _pp, _ep = {}, {}, {}, {}, {}", spec.replicate,
                              spec.tp, spec.cp, spec.pp, spec.ep));
  lines.push_back(spec.fsdp.empty() ? "_shard = torch.distributed.get_world_size() // "
                                      "(_replicate * _tp * _cp * _pp)"
                                    : fmt::format("_shard = {}", spec.fsdp));
  add_text(
      R"(torch.cuda.set_device(torch.distributed.get_node_local_rank())
_world = torch.distributed.get_world_size()
if _shard % _ep != 0:
    raise ValueError(f"train.parallel: fsdp {_shard} is not a multiple of ep {_ep}")
_sizes = {"pp": _pp, "replicate": _replicate, "shard": _shard // _ep, "ep": _ep, "cp": _cp, "tp": _tp}
if _pp * _replicate * _shard * _cp * _tp != _world:
    _told = {"pp": _pp, "replicate": _replicate, "fsdp": _shard, "cp": _cp, "tp": _tp}
    _told = " x ".join([f"{name} {size}" for name, size in _told.items() if size != 1 or name in ("replicate", "fsdp", "tp")])
    raise ValueError(f"train.parallel: {_told} is not the world of {_world} ranks")
_sizes = {name: size for name, size in _sizes.items() if size > 1 or name == "shard"}
_mesh = torch.distributed.device_mesh.init_device_mesh("cuda", tuple(_sizes.values()), mesh_dim_names=tuple(_sizes)))",
      lines);
}

/// Of a model: its blocks, in lists that it names, and what stands before and behind them.
constexpr std::string_view kBlocks = R"(def _is_list(module):
    return isinstance(module, (nn.ModuleList, nn.Sequential))
def _blocks(module):
    if _is_list(module):
        return [part for part in module if list(part.children())]
    return [part for child in module.children() for part in _blocks(child)])";

constexpr std::string_view kSplit = R"(import copy
class _Elsewhere(nn.Module):
    """in place of a module that another stage has: it hands on what goes between stages"""
    def __init__(self, path, hidden):
        super().__init__()
        self.path, self.hidden = path, hidden
    def forward(self, x, *rest):
        if tuple(x.shape) != self.hidden:
            raise ValueError(f"train.parallel: {self.path} is of another stage, and forward() gives it a tensor of {tuple(x.shape)} "
                             f"where stages hand on {self.hidden}: put what comes before the blocks into one module")
        return x
def _list_of_blocks(module, path=()):
    """the path of the one list of blocks"""
    found = []
    for name, child in module.named_children():
        if _is_list(child) and _blocks(child):
            found.append((*path, name))
        elif not _is_list(child):
            found.extend(_list_of_blocks(child, (*path, name)))
    return found
def _stage_of(model, stage, hidden, first, behind):
    """the part of a model that is a stage: its blocks, what stands before them of the first one, what stands behind of the last"""
    if isinstance(model, nn.Sequential):
        return model[first:behind]
    parent, is_before, last = model, True, _count - 1
    for depth, name in enumerate(_path):
        is_before = True
        for other, child in list(parent.named_children()):
            if other == name:
                is_before = False
            elif stage != (0 if is_before else last):
                setattr(parent, other, _Elsewhere(".".join((*_path[:depth], other)), hidden))
        if depth + 1 < len(_path):
            parent = getattr(parent, name)
    setattr(parent, _path[-1], getattr(parent, _path[-1])[first:behind])
    return model
_is_sequential = isinstance(model, nn.Sequential)
_path = [()] if _is_sequential else _list_of_blocks(model)
if len(_path) != 1:
    raise ValueError(f"train.parallel: a pipeline needs a model with one list of blocks, found {['.'.join(path) for path in _path]}")
_path = _path[0]
_all = model
for _name in _path:
    _all = getattr(_all, _name)
_count = _pp * _per
if len(_all) < _count:
    raise ValueError(f"train.parallel: {len(_all)} blocks are too few for {_count} stages")
_bounds = [i * len(_all) // _count for i in range(_count + 1)]
if batch % _micros != 0:
    raise ValueError(f"train.parallel: a batch of {batch} is not {_micros} micro-batches of one size"))";

/// What goes in and comes out of each stage, found on no device.
constexpr std::string_view kShapes = R"(_between = [None] * (_count + 1)
def _note(at):
    def note(module, args):
        _between[at] = args[0]
    return note
_shown = copy.deepcopy(model).to("meta")
_shown_blocks = _shown
for _name in _path:
    _shown_blocks = getattr(_shown_blocks, _name)
for _at in range(1, _count):
    _shown_blocks[_bounds[_at]].register_forward_pre_hook(_note(_at))
with torch.no_grad():
    _between[_count] = _shown(*_given)
_between[0] = _given
if any([each is None for each in _between]):
    raise ValueError("train.parallel: forward() does not call every block with what goes between stages first")
del _shown, _shown_blocks)";

constexpr std::string_view kOwnStages = R"(_pp_rank = _mesh["pp"].get_local_rank()
_own = [_pp_rank, _count - 1 - _pp_rank] if _is_v else [_pp_rank + _pp * i for i in range(_per)]
_parts = []
for _stage in _own:
    _part = model if len(_own) == 1 else copy.deepcopy(model)
    _hidden = tuple(_between[max(1, _stage)].shape) if _count > 1 else ()
    _parts.append(_stage_of(_part, _stage, _hidden, _bounds[_stage], _bounds[_stage + 1]))
model = nn.ModuleList(_parts))";

const PipelineSchedule& schedule_of(const ParallelSpec& spec) {
  for (const PipelineSchedule& one : kPipelineSchedules)
    if (one.kind == spec.schedule) return one;
  return kPipelineSchedules[1];
}

void add_stages(const ParallelSpec& spec, const ParallelLoop& loop, Lines& lines) {
  const PipelineSchedule& schedule = schedule_of(spec);
  lines.push_back(fmt::format("_is_v, _per = {}, {}", schedule.is_v ? "True" : "False",
                              !spec.stages.empty()   ? spec.stages
                              : schedule.has_several ? "2"
                                                     : "1"));
  lines.push_back(spec.microbatches.empty() ? "_micros = _pp * _per"
                                            : fmt::format("_micros = {}", spec.microbatches));
  add_text(kSplit, lines);
  // A rank has its part of each sequence.
  lines.emplace_back("def _cut(t):");
  lines.emplace_back("    t = t[:batch // _micros]");
  lines.emplace_back("    return (t[:, :t.shape[1] // _cp] if t.dim() > 1 else t).to(\"meta\")");
  std::string given;
  for (const std::string& input : loop.inputs) given += fmt::format("_cut({}), ", input);
  lines.push_back(fmt::format("_given = ({})", given));
  const std::string dtype = spec.precision ? *spec.precision : loop.dtype;
  std::string shapes(kShapes);
  if (!dtype.empty()) {
    const std::string_view to = ".to(\"meta\")";
    shapes.replace(shapes.find(to), to.size(), fmt::format(".to(\"meta\").to({})", dtype));
    lines.push_back(fmt::format(
        "_given = tuple([t.to({}) if t.is_floating_point() else t for t in _given])", dtype));
  }
  add_text(shapes, lines);
  add_text(kOwnStages, lines);
}

void add_plan(const ParallelSpec& spec, Lines& lines) {
  lines.emplace_back("if _tp > 1:");
  lines.emplace_back(
      "    from torch.distributed.tensor.parallel import (ColwiseParallel, RowwiseParallel, "
      "SequenceParallel, parallelize_module)");
  lines.emplace_back("    from torch.distributed.tensor import Replicate");
  lines.emplace_back("    _plan = {");
  for (const auto& [path, style] : spec.plan)
    lines.push_back(fmt::format("        {}: {},", quoted_literal(path), style));
  lines.emplace_back("    }");
  if (!spec.has_pipeline()) {
    lines.emplace_back("    parallelize_module(model, _mesh[\"tp\"], _plan)");
    return;
  }
  add_text(R"(for _part in _parts:
    _gone = [m.path for m in _part.modules() if isinstance(m, _Elsewhere)]
    parallelize_module(_part, _mesh["tp"], {path: style for path, style in _plan.items()
                                            if not any([path == gone or path.startswith(gone + ".") for gone in _gone])}))",
           lines, 1);
}

/// Each rank has its experts alone; rows go where theirs are, and come back. Those experts are
/// sharded over the ranks that have the same. Their gradients are means over all ranks.
constexpr std::string_view kExperts =
    R"(from torch.distributed._functional_collectives import all_to_all_single_autograd
import fnmatch
_ep_rank, _ep_group = _mesh["ep"].get_local_rank(), _mesh["ep"].get_group()
def _is_experts(path):
    """* stands for one name"""
    return any([len(path.split(".")) == len(each.split(".")) and fnmatch.fnmatchcase(path, each) for each in _experts])
def _send(module, args):
    count, rows, width = args[0].shape
    got = all_to_all_single_autograd(args[0], None, None, _ep_group)
    return (got.view(_ep, count // _ep, rows, width).transpose(0, 1).reshape(count // _ep, _ep * rows, width), *args[1:])
def _bring(module, args, out):
    count, rows, width = out.shape
    out = out.view(count, _ep, rows // _ep, width).transpose(0, 1).reshape(_ep * count, rows // _ep, width)
    return all_to_all_single_autograd(out, None, None, _ep_group)
def _placement(module):
    """more ranks than experts: each has a part of one. Source: torchtitan"""
    own = min([param.shape[0] for param in module.parameters(recurse=False)])
    return (lambda param: torch.distributed.tensor.Shard(1)) if _shard // _ep > own else None
def _spread(path, module):
    for name, param in list(module.named_parameters(recurse=False)):
        if param.shape[0] % _ep != 0:
            raise ValueError(f"train.parallel: {param.shape[0]} experts of {path}.{name} are not shared evenly by ep {_ep}")
        own = param.shape[0] // _ep
        setattr(module, name, nn.Parameter(param.detach()[_ep_rank * own:(_ep_rank + 1) * own].clone()))
    module.register_forward_pre_hook(_send)
    module.register_forward_hook(_bring))";

void add_experts(const ParallelSpec& spec, std::string_view options, Lines& lines) {
  std::string paths;
  for (const std::string& path : spec.experts) paths += fmt::format("{}, ", quoted_literal(path));
  lines.push_back(fmt::format("    _experts = ({})", paths));
  add_text(kExperts, lines, 1);
  lines.push_back(
      fmt::format("    _found = [(path, module) for part in {} for path, module in "
                  "part.named_modules() if _is_experts(path)]",
                  spec.has_pipeline() ? "_parts" : "[model]"));
  add_text(R"(if not _found:
    raise ValueError(f"train.parallel: no module of the model is called {' or '.join(_experts)}")
for _at, _module in _found:
    _spread(_at, _module))",
           lines, 1);
  lines.push_back(fmt::format(
      "        fully_shard(_module, mesh=_mesh[\"replicate\", \"shard\"] if _replicate > 1 else "
      "_mesh[\"shard\"], shard_placement_fn=_placement(_module), {})",
      options));
  lines.emplace_back("        _module.set_gradient_divide_factor(float(_replicate * _shard))");
}

void add_sharding(const ParallelSpec& spec, Lines& lines) {
  std::string options = fmt::format("reshard_after_forward={}", spec.reshard ? "True" : "False");
  if (spec.precision) {
    options +=
        fmt::format(", mp_policy=MixedPrecisionPolicy(param_dtype={}, reduce_dtype=torch.float32)",
                    *spec.precision);
  }
  if (spec.offload) options += ", offload_policy=CPUOffloadPolicy()";
  // Stages of whole parameters need no sharding, but for what it alone does.
  const bool is_asked = !spec.has_pipeline() || spec.precision || spec.offload;
  lines.push_back(is_asked ? "if True:" : "if _replicate * _shard * _cp * _tp > 1:");
  // Ranks of one sequence have the same parameters: they share them, too. So do those of experts,
  // but for these.
  add_text(
      R"(from torch.distributed.fsdp import (CPUOffloadPolicy, MixedPrecisionPolicy, fully_shard)
_along = [name for name, size in (("shard", 0), ("ep", _ep), ("cp", _cp)) if size != 1]
if len(_along) > 1:
    _over = _mesh[tuple(_along)]._flatten("_".join(_along))
    _over = _mesh["replicate", "_".join(_along)] if _replicate > 1 else _over
else:
    _over = _mesh["replicate", "shard"] if _replicate > 1 else _mesh["shard"])",
      lines, 1);
  if (spec.has_experts()) add_experts(spec, options, lines);
  lines.push_back(fmt::format("    for _whole in {}:", spec.has_pipeline() ? "_parts" : "[model]"));
  lines.emplace_back("        for _block in _blocks(_whole):");
  lines.push_back(fmt::format("            fully_shard(_block, mesh=_over, {})", options));
  lines.push_back(fmt::format("        fully_shard(_whole, mesh=_over, {})", options));
}

/// The loss of a micro-batch, as a function.
void add_loss(const ParallelLoop& loop, Lines& lines) {
  lines.emplace_back("def _loss_of(out, y):");
  lines.push_back(fmt::format("    return {}", loop.loss));
}

}  // namespace

std::vector<std::string> parallel_setup(const ParallelSpec& spec, const ParallelLoop& loop) {
  Lines lines;
  add_mesh(spec, lines);
  add_text(kBlocks, lines);
  if (spec.has_pipeline()) add_stages(spec, loop, lines);
  if (!spec.plan.empty()) add_plan(spec, lines);
  add_sharding(spec, lines);
  return lines;
}

std::vector<std::string> pipeline_schedule(const ParallelSpec& spec, const ParallelLoop& loop) {
  Lines lines;
  add_loss(loop, lines);
  add_text(
      R"(from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import get_schedule_class
_as_tuple = lambda given: given if isinstance(given, tuple) else (given,)
_stages = [PipelineStage(_part, _stage, _count, torch.device("cuda", torch.cuda.current_device()), input_args=_as_tuple(_between[_stage]),
                         output_args=_as_tuple(_between[_stage + 1]), group=_mesh.get_group("pp")) for _part, _stage in zip(_parts, _own)]
_is_first, _is_last = any([each.is_first for each in _stages]), any([each.is_last for each in _stages]))",
      lines);
  lines.push_back(fmt::format(
      "_schedule = get_schedule_class(\"{}\")({}, n_microbatches=_micros, loss_fn=_loss_of)",
      spec.schedule, schedule_of(spec).has_several ? "_stages" : "_stages[0]"));
  return lines;
}

std::string sequence_context(const ParallelSpec& spec, const std::vector<std::string>& inputs) {
  std::vector<std::string> buffers = inputs;
  std::vector<std::string> dims(inputs.size(), "1");
  for (const auto& [path, dim] : spec.sequence_buffers) {
    buffers.push_back(fmt::format("model.{}", path));
    dims.push_back(dim);
  }
  return fmt::format(
      "torch.distributed.tensor.experimental.context_parallel(_mesh[\"cp\"], buffers=[{}], "
      "buffer_seq_dims=[{}], no_restore_buffers={{{}}}), "
      "torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.FLASH_ATTENTION, "
      "torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION])",
      fmt::join(buffers, ", "), fmt::join(dims, ", "), fmt::join(inputs, ", "));
}

}  // namespace tidemark
