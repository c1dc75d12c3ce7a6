#include "sim/run/scenario_fields.h"

#include <array>
#include <string_view>

#include "sim/device/device.h"
#include "sim/torch/tensors/compiled_code.h"

namespace tidemark {
namespace {

namespace form = yaml::form;

template <class... Words>
constexpr std::array<std::string_view, sizeof...(Words)> words(Words... each) {
  return {std::string_view(each)...};
}

constexpr std::int64_t kMostSteps = std::int64_t{1} << 62;

constexpr std::string_view kName = "^[A-Za-z_][A-Za-z0-9_]*$";
constexpr yaml::Form kAny = form::any();
constexpr yaml::Form kText = form::text();
constexpr yaml::Form kBoolean = form::boolean();
constexpr yaml::Form kParameter = form::name(kName);
constexpr yaml::Form kMapOfAny = form::map_of(kAny);
constexpr yaml::Form kListOfAny = form::list_of(kAny);
constexpr yaml::Form kListOfText = form::list_of(kText);

/// A whole number, or the name of a parameter.
constexpr yaml::Form kSize = form::integer(0).either(kParameter);
constexpr yaml::Form kCount = form::integer(1).either(kParameter);
/// The same in every step, or one a step.
constexpr yaml::Form kListOfCounts = form::list_of(kCount, 1);
constexpr yaml::Form kNamedOrListed = form::name(kName).either(kListOfCounts);
constexpr yaml::Form kCounts = form::integer(1).either(kNamedOrListed);

constexpr yaml::Form kShape = form::list_of(kSize);
constexpr yaml::Form kTensorAsMap = form::map(kTensorMap);
constexpr yaml::Form kTensorAsText = form::text().either(kTensorAsMap);
constexpr yaml::Form kTensor = form::list_of(kSize).either(kTensorAsText);

// Enumerations of Scenario, TrainSpec and ops go by these orders.
constexpr auto kAllocatorBackends = words("native", "cudaMallocAsync", "naive", "ideal");
constexpr auto kCudnn = words("benchmark");
constexpr auto kDtypeNames =
    words("float32", "float", "float64", "double", "float16", "half", "bfloat16", "int64", "long",
          "int32", "int", "uint8", "int8", "bool");
constexpr auto kPrecisions = words("fp32", "fp64", "bf16", "fp16", "amp-bf16", "amp-fp16");
constexpr auto kCasts = words("host", "device");
constexpr auto kCheckpoints = words("none", "every-block", "every-2", "reentrant");
constexpr auto kGroups = words("one", "decay");
constexpr auto kZeroGrads = words("start", "before-backward", "end");
constexpr auto kMetrics = words("none", "device", "host");
constexpr auto kModes = words("train", "eval");
constexpr auto kEmptyCaches = words("never", "each_step");
constexpr auto kStyles =
    words("colwise", "rowwise", "colwise_rep", "rowwise_rep", "sequence_parallel");
constexpr auto kSchedules =
    words("gpipe", "1f1b", "interleaved", "looped_bfs", "zero_bubble", "zbv", "dualpipev");
constexpr yaml::Form kDimension = form::integer(0, 8);
constexpr auto kShardPrecisions = words("bf16", "fp16");
constexpr yaml::Form kStyle = form::choice(kStyles);
constexpr auto kOoms = words("raise", "stop", "next");

constexpr std::string_view kRelease = "^2\\.[0-9]+$";
constexpr yaml::Form kDeviceAsMap = form::map(kDeviceMap);
constexpr yaml::Form kPytorchAsMap = form::map(kPytorchMap);
constexpr yaml::Form kScriptAsMap = form::map(kScriptMap);
constexpr yaml::Form kOptimizerAsMap = form::map(kOptimizerMap);
constexpr yaml::Form kDdpAsMap = form::map(kDdpMap);
constexpr yaml::Form kNamedOrDdp = form::name(kName).either(kDdpAsMap);
constexpr yaml::Form kCudnnWord = form::choice(kCudnn);
constexpr yaml::Form kOp = form::map(kOpMap);

constexpr yaml::Form kFreed = form::name(kName);
constexpr yaml::Form kStep = form::map(kOpStepMap).either(kFreed);
constexpr yaml::Form kNamedStep = form::map_of(kStep, kName);
constexpr yaml::Form kExpressions = form::list_of(kText);
constexpr yaml::Form kExpression = form::text().either(kExpressions);
constexpr yaml::Form kMapOfText = form::map_of(kText);

constexpr yaml::Form kRange = form::map(kSweepRangeMap);
constexpr yaml::Form kValues = form::list_of(kAny, 1).either(kRange);
constexpr yaml::Form kAxes = form::map_of(kValues);
constexpr yaml::Form kListOfAxes = form::list_of(kAxes);
constexpr yaml::Form kWhen = form::map(kSweepWhenMap);

constexpr yaml::Field kScenarioFields[] = {
    {"schema_version", form::integer(1, 1), "the version of this format", true},
    {"name", kText, "a title, carried to reports"},
    {"notes", kText, "text that is carried to reports"},
    {"device", form::text_like(&device_ids).either(kDeviceAsMap),
     "an id or alias that `tidemark devices` lists, the path of a device file, or a map", true},
    {"device_count", form::integer(1, 64),
     "GPUs of that kind, each with an allocator of its own (default 1)"},
    {"ranks", form::map(kRanksMap), "the processes of a distributed job, and which of them is run"},
    {"pytorch", form::text(kRelease).either(kPytorchAsMap),
     "the PyTorch that runs the program: its release, or a map (default 2.15)"},
    {"allocator", form::map(kAllocatorMap), "settings of the allocator"},
    {"backends", form::map(kBackendsMap), "which kernels may be chosen"},
    {"compile", form::choice(torch::kCompileModeNames),
     "compiled code: refuse, run as eager, or model what PyTorch compiles (default model)"},
    {"assume", form::text().either(kListOfText),
     "what values that are not known are taken for: train.py:12=true, or zeros"},
    {"routing", kText, "how routers spread tokens over experts: uniform, zipf:S, a file of shares"},
    {"params", form::map_of(kAny, kName), "values that the rest of the file may use by name"},
    {"ops", form::map_of(kOp), "operators that Tidemark does not model, declared"},
    {"model", form::map(kModelMap), "the code that makes the model"},
    {"layers", form::list_of(kText, 1), "modules, as for torch.nn.Sequential: Linear(784, 512)"},
    {"train", form::map(kTrainMap), "a training or inference loop"},
    {"loop", kText, "a loop of one's own, in the model language"},
    {"script", form::text().either(kScriptAsMap),
     "a training script, in place of model, layers, train and loop"},
    {"data", form::map_of(kAny), "of a script: folders of pictures and loaders, by size alone"},
    {"packages", form::text().either(kListOfText),
     "folders of installed packages, in which import looks last (default: TIDEMARK_PACKAGES, "
     "$VIRTUAL_ENV, $CONDA_PREFIX)"},
    {"variants", form::map_of(kMapOfAny), "named sets of overrides, with the keys of --set"},
    {"sweep", form::map(kSweepMap), "what `tidemark sweep` varies"}};

constexpr yaml::Field kDeviceFields[] = {
    {"name", form::text_like(&device_ids), "id, alias or path of the device that is changed", true},
    {"total", form::bytes(), "memory of the device: 24GiB"},
    {"context", form::bytes(), "gone once a CUDA context exists"},
    {"other", form::bytes(), "held by other processes (default 0)"}};

constexpr std::int64_t kMostRanks = 1 << 20;
constexpr std::string_view kAllRanks[] = {"all"};
constexpr yaml::Form kEveryRank = form::choice(kAllRanks);
constexpr yaml::Field kRanksFields[] = {
    {"world", form::integer(1, kMostRanks), "processes in all, each with a GPU of its own", true},
    {"per_node", form::integer(1, 64), "processes a machine (default 8, or all of fewer)"},
    {"rank", form::integer(0, kMostRanks - 1).either(kEveryRank),
     "the process that is run, or all (default: all of up to 16, some of more)"}};

constexpr yaml::Field kPytorchFields[] = {
    {"version", form::text(kRelease), "the release", true},
    {"cuda", kText, "the toolkit of its wheel: 12.8, 13.2 (default: the one of PyPI's wheel)"}};

constexpr yaml::Field kAllocatorFields[] = {
    {"conf", kText, "the text of PYTORCH_ALLOC_CONF: expandable_segments:True"},
    {"memory_fraction", form::number(0, 1),
     "as torch.cuda.set_per_process_memory_fraction (default: no limit)"},
    {"backend", form::choice(kAllocatorBackends),
     "native, cudaMallocAsync, naive (a driver call a tensor) or ideal (live bytes alone)"},
    {"event_policy", form::text("^(simulated|sync|ready|lag:[0-9]+)$"),
     "when a block that another stream used is free again (default simulated; of ranks, ready)"}};

constexpr yaml::Field kBackendsFields[] = {
    {"cudnn", form::boolean().either(kCudnnWord), "cuDNN's convolutions (default true)"},
    {"cudnn_workspace", form::bytes(), "what each convolution asks for (default 0)"},
    {"cublas_workspace_config", kText,
     "as CUBLAS_WORKSPACE_CONFIG, pairs of KiB and count: :4096:8"},
    {"cublaslt_workspace_size", form::integer(0, 1 << 30),
     "as CUBLASLT_WORKSPACE_SIZE, in KiB (default 1024)"},
    {"cublas_workspace_cache", kBoolean,
     "as TORCH_CUBLAS_WORKSPACE_CACHE: 2.15 keeps the workspaces (default false)"},
    {"cudnn_sdp", kBoolean, "cuDNN's attention (default true)"},
    {"flash", kBoolean, "flash attention (default true)"},
    {"efficient", kBoolean, "memory-efficient attention (default true)"},
    {"math", kBoolean, "attention by separate operators (default true)"},
    {"tf32", kBoolean, "TensorFloat-32 in products of matrices (default false)"},
    {"cudnn_tf32", kBoolean, "TensorFloat-32 in convolutions (default true)"},
    {"fp16_accumulation", kBoolean, "products of fp16 are summed up in fp16 (default false)"},
    {"deterministic", kBoolean, "torch.use_deterministic_algorithms (default false)"}};

constexpr yaml::Field kScriptFields[] = {
    {"file", kText, "the script's file, beside this one", true},
    {"args", kListOfText, "what sys.argv has after the script's name"},
    {"env", kMapOfText, "what os.environ has"},
    {"steps", form::integer(1, kMostSteps), "optimizer steps after which it is ended"},
    {"until", kText, "the simulated time at which it is ended: 90s, 2h"}};

constexpr yaml::Field kModelFields[] = {
    {"file", kText, "a Python file with the model, beside this file"},
    {"code", kText, "its text, in place of a file"},
    {"path", form::text().either(kListOfText), "further folders in which import looks"},
    {"class", kText, "what is called to make the model"},
    {"function", kText, "the same: a function, or an expression"},
    {"args", form::map_of(kAny).either(kListOfAny), "arguments: by name, or a list"}};

constexpr yaml::Field kTrainFields[] = {
    {"steps", kCount, "how many (default: the length of a list among the next three, else 3)"},
    {"batch", kCounts, "samples of a step, or a list with one number a step"},
    {"seq", kCounts, "the length of sequences, or one a step"},
    {"image", kCounts, "the side of images, or one a step"},
    {"input", kTensor, "the model's argument: a shape without the batch, or an expression"},
    {"inputs", form::list_of(kTensor), "its arguments, where it has several"},
    {"target", kTensor, "what the loss compares with, of dtype long unless told; or input"},
    {"data", kText, "in place of these: an expression for a list of host tensors"},
    {"loss", kText, "a function, or an expression in out and y (default cross_entropy)"},
    {"optimizer", form::text().either(kOptimizerAsMap),
     "a class of torch.optim with its further arguments (default AdamW(lr=1e-3))"},
    {"param_groups", form::choice(kGroups), "decay: no weight decay for vectors (default one)"},
    {"precision", form::choice(kPrecisions), "of model and inputs, or autocast (default fp32)"},
    {"cast", form::choice(kCasts), "where a model of pure precision is cast (default host)"},
    {"scaler", kBoolean, "GradScaler with amp-fp16 (default true)"},
    {"channels_last", kBoolean, "memory format of model and images (default false)"},
    {"checkpoint", form::choice(kCheckpoints), "the model's attribute checkpoint_mode"},
    {"prepare", kText, "Python that is run on the model once it is made, before it goes anywhere"},
    {"step_in_backward", kBoolean,
     "each weight has an optimizer that steps once its gradient is there (default false)"},
    {"save_on_cpu", kBoolean,
     "what forward saves lies on the host: torch.autograd.graph.save_on_cpu (default false)"},
    {"accumulate", kCount, "backward passes for one step of the optimizer (default 1)"},
    {"zero_grad", form::choice(kZeroGrads), "where in a step (default start)"},
    {"set_to_none", kBoolean, "of zero_grad (default true)"},
    {"clip", form::number(0), "largest norm for clip_grad_norm_ (default: no clipping)"},
    {"clip_foreach", kBoolean, "of clip_grad_norm_ (default: PyTorch's)"},
    {"metric", form::choice(kMetrics), "where an accuracy of each step is computed (default none)"},
    {"mode", form::choice(kModes), "of the model (default train; eval with no_grad)"},
    {"validate_every", kCount, "steps between validations (default: never)"},
    {"validate_batches", kCount, "batches of a validation (default 2)"},
    {"ddp", form::integer(1).either(kNamedOrDdp),
     "ranks of DistributedDataParallel, or a map with its options"},
    {"parallel", form::map(kParallelMap), "how the ranks of `ranks` share the model"},
    {"no_grad", kBoolean, "inference under torch.no_grad() (default false)"},
    {"forward_only", kBoolean, "forward alone, with gradients recorded (default false)"},
    {"empty_cache", form::choice(kEmptyCaches), "torch.cuda.empty_cache() (default never)"},
    {"expand", kBoolean, "one sample, expanded to the batch in each step (default false)"},
    {"del_outputs", kBoolean, "del out, loss at the end of a step (default false)"},
    {"oom", form::choice(kOoms), "what a refused request does (default raise)"}};

constexpr yaml::Field kTensorFields[] = {
    {"shape", kShape, "sizes without the batch", true},
    {"dtype", form::choice(kDtypeNames), "float32, or long for targets, unless told"}};

constexpr yaml::Field kOptimizerFields[] = {
    {"class", kText, "a class of the text's namespace", true},
    {"args", kMapOfAny, "its further arguments"},
};

constexpr yaml::Field kDdpFields[] = {
    {"world_size", kCount, "ranks, of which this is rank 0", true},
    {"broadcast_buffers", kBoolean, "as DistributedDataParallel has it"},
    {"find_unused_parameters", kBoolean, "as DistributedDataParallel has it"},
    {"gradient_as_bucket_view", kBoolean, "as DistributedDataParallel has it"},
    {"static_graph", kBoolean, "as DistributedDataParallel has it"},
    {"bucket_cap_mb", form::number(0, 1 << 20), "as DistributedDataParallel has it"}};

constexpr yaml::Field kParallelFields[] = {
    {"fsdp", kCount, "ranks that fully_shard shards over (default: all that are left)"},
    {"replicate", kCount, "copies of the sharded model (default 1)"},
    {"tp", kCount, "ranks of tensor parallelism, by `plan` (default 1)"},
    {"plan", form::map_of(kStyle), "modules by path, * for one name: colwise"},
    {"cp", kCount, "ranks of context parallelism, which share each sequence (default 1)"},
    {"sequence_buffers", form::map_of(kDimension),
     "the model's buffers that are as long as a sequence, by path, and along which dimension"},
    {"ep", kCount, "of fsdp: ranks that share the experts among them (default 1)"},
    {"experts", kListOfText, "modules of experts, by path, * for one name: blocks.*.experts"},
    {"pp", kCount, "ranks of a pipeline, each with a part of the blocks (default 1)"},
    {"schedule", form::choice(kSchedules), "of a pipeline (default 1f1b)"},
    {"microbatches", kCount, "that a batch is cut into (default: as many as stages)"},
    {"stages", kCount, "of each rank (default 1, or 2 where the schedule wants several)"},
    {"reshard", kBoolean, "reshard_after_forward (default true)"},
    {"offload", kBoolean, "CPUOffloadPolicy (default false)"},
    {"precision", form::choice(kShardPrecisions), "of parameters that are gathered"}};

// What an op needs depends on `function`: its reader says what is missing.
constexpr yaml::Field kOpFields[] = {
    {"args", kText, "the parameters, as Python writes them"},
    {"let", form::map_of(kExpression, kName), "named values for the expressions, in order"},
    {"forward", form::list_of(kNamedStep), "steps, in order: NAME: {...} or free: NAME"},
    {"returns", form::name(kName).either(kListOfAny), "a name that forward makes, or several"},
    {"saves", kListOfText, "what autograd keeps, in order of release"},
    {"without_gradient", kListOfText, "what is returned and has no gradient"},
    {"backward", form::list_of(kNamedStep), "steps of backward"},
    {"gradients", kMapOfText, "argument: the tensor that holds its gradient"},
    {"function", kText, "in place of all these: my_ops.scan"}};

constexpr yaml::Field kOpStepFields[] = {
    {"shape", kExpression, "the sizes of a new tensor"},
    {"like", kText, "as torch.empty_like of that tensor"},
    {"contiguous", kText, "that tensor, or a contiguous copy"},
    {"bytes", kExpression, "raw memory"},
    {"dtype", kExpression, "float32 unless told"},
    {"device", kExpression, "that of the first tensor argument unless told"},
    {"keep", kBoolean, "a workspace that stays, one a device and stream"},
    {"when", kExpression, "without whose truth the step is left out"}};

constexpr yaml::Field kSweepFields[] = {
    {"grid", kAxes, "paths as --set has them: values; every combination is a cell"},
    {"zip", form::map_of(kValues).either(kListOfAxes), "paths whose values go in step"},
    {"when", form::list_of(kWhen), "further axes where a condition holds"},
    {"exclude", form::list_of(kMapOfAny), "cells for which all of one entry holds"}};

constexpr yaml::Field kSweepRangeFields[] = {
    {"from", form::integer(-kMostSteps, kMostSteps), "the first value", true},
    {"to", form::integer(-kMostSteps, kMostSteps), "the last that may be reached", true},
    {"step", form::integer(1, kMostSteps), "what is added from one to the next"},
    {"times", form::integer(2, kMostSteps), "what multiplies one into the next"}};

constexpr yaml::Field kSweepWhenFields[] = {
    {"if", kMapOfAny, "path: the value, or a list of values, for which this holds", true},
    {"grid", kAxes, "as in sweep"},
    {"zip", form::map_of(kValues).either(kListOfAxes), "as in sweep"}};

}  // namespace

constexpr yaml::Map kScenarioMap{kScenarioFields};
constexpr yaml::Map kDeviceMap{kDeviceFields};
constexpr yaml::Map kRanksMap{kRanksFields};
constexpr yaml::Map kPytorchMap{kPytorchFields};
constexpr yaml::Map kAllocatorMap{kAllocatorFields};
constexpr yaml::Map kBackendsMap{kBackendsFields};
constexpr yaml::Map kModelMap{kModelFields};
constexpr yaml::Map kScriptMap{kScriptFields};
constexpr yaml::Map kTrainMap{kTrainFields};
constexpr yaml::Map kTensorMap{kTensorFields};
constexpr yaml::Map kOptimizerMap{kOptimizerFields};
constexpr yaml::Map kDdpMap{kDdpFields};
constexpr yaml::Map kParallelMap{kParallelFields};
constexpr std::span<const std::string_view> kParallelStyleNames{kStyles};
constexpr yaml::Map kOpMap{kOpFields};
constexpr yaml::Map kOpStepMap{kOpStepFields};
constexpr yaml::Map kSweepMap{kSweepFields};
constexpr yaml::Map kSweepRangeMap{kSweepRangeFields};
constexpr yaml::Map kSweepWhenMap{kSweepWhenFields};

}  // namespace tidemark
