#include "sim/run/train_loop.h"

#include <fmt/format.h>

namespace tidemark {
namespace {

using Spec = TrainSpec;

/// Lines of text at an indentation that follows the blocks opened and closed.
class Listing {
 public:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(indent_ * 4, ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  void open() { ++indent_; }
  void close() { --indent_; }
  /// `with phase(f"NAME {step}"):`, closed by close().
  void phase(std::string_view name, std::string_view tag) {
    line("with phase(f\"{} {}\"):", name, tag);
    open();
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::size_t indent_ = 0;
};

/// The list that a step's value is taken from.
std::string_view list_name(std::string_view name) {
  return name == "batch" ? "batches" : name == "seq" ? "seqs" : "images";
}

constexpr std::string_view kStep = "{step}";
constexpr std::string_view kMicro = "{step}.{micro}";

class Writer {
 public:
  Writer(const Spec& spec, std::string_view model) : spec_(spec), model_(model) {}
  std::string write();

 private:
  [[nodiscard]] bool is_pure() const {
    return spec_.precision == Spec::Precision::kBf16 || spec_.precision == Spec::Precision::kFp16 ||
           spec_.precision == Spec::Precision::kFp64;
  }
  [[nodiscard]] bool is_amp() const {
    return spec_.precision == Spec::Precision::kAmpBf16 ||
           spec_.precision == Spec::Precision::kAmpFp16;
  }
  [[nodiscard]] bool forward_only() const { return spec_.no_grad || spec_.forward_only; }
  [[nodiscard]] bool uses_scaler() const {
    return spec_.precision == Spec::Precision::kAmpFp16 && spec_.scaler && !forward_only();
  }
  [[nodiscard]] bool accumulates() const { return spec_.accumulate != "1"; }
  [[nodiscard]] bool casts_on_host() const { return is_pure() && spec_.cast == Spec::Cast::kHost; }
  [[nodiscard]] bool casts_on_device() const {
    return is_pure() && spec_.cast == Spec::Cast::kDevice;
  }
  [[nodiscard]] std::string_view dtype() const;
  [[nodiscard]] std::string autocast() const {
    return fmt::format("torch.autocast(\"cuda\", {})", dtype());
  }
  [[nodiscard]] std::string_view tag() const { return accumulates() ? kMicro : kStep; }

  [[nodiscard]] std::string host(const BatchTensor& tensor) const;
  [[nodiscard]] std::string to_device(const std::string& host) const;
  [[nodiscard]] bool needs_prepare(const BatchTensor& tensor) const;
  [[nodiscard]] std::string input_name(std::size_t i) const;
  [[nodiscard]] std::string arguments() const;
  [[nodiscard]] std::string target() const { return spec_.data.empty() ? "y" : "dev[-1]"; }

  [[nodiscard]] bool has_pipeline() const {
    return spec_.parallel && spec_.parallel->has_pipeline();
  }
  [[nodiscard]] ParallelLoop parallel_loop() const;
  [[nodiscard]] std::vector<std::string> shared_sequences() const;

  void helpers();
  void setup();
  void share_model();
  void pipeline_step();
  void step_in_backward(std::string_view comma);
  void one_sample();
  void constants();
  void step_values(std::string_view index);
  void step();
  void zero_grad(std::string_view tag);
  void get_batch();
  void micro_step();
  void backward();
  void forward();
  void output_and_loss();
  void update();
  void metric();
  void validate();

  const Spec& spec_;
  std::string_view model_;
  Listing out_;
};

std::string_view Writer::dtype() const {
  switch (spec_.precision) {
    case Spec::Precision::kFp64:
      return "torch.float64";
    case Spec::Precision::kBf16:
    case Spec::Precision::kAmpBf16:
      return "torch.bfloat16";
    case Spec::Precision::kFp16:
    case Spec::Precision::kAmpFp16:
      return "torch.float16";
    case Spec::Precision::kFp32:
      break;
  }
  return "torch.float32";
}

bool Writer::needs_prepare(const BatchTensor& tensor) const {
  return (casts_on_host() && !tensor.is_floating) || (spec_.channels_last && !tensor.dims);
}

std::string Writer::host(const BatchTensor& tensor) const {
  if (needs_prepare(tensor)) return fmt::format("prepare({})", tensor.host);
  std::string text = tensor.host;
  if (casts_on_host() && *tensor.is_floating) text += fmt::format(".to({})", dtype());
  if (spec_.channels_last && *tensor.dims == 4) text += ".to(memory_format=torch.channels_last)";
  return text;
}

std::string Writer::to_device(const std::string& host) const {
  return casts_on_device() ? fmt::format("to_device({})", host)
                           : fmt::format("{}.to(\"cuda\")", host);
}

std::string Writer::input_name(std::size_t i) const {
  return spec_.inputs.size() == 1 ? "x" : fmt::format("x{}", i + 1);
}

std::string Writer::arguments() const {
  if (!spec_.data.empty()) return "*dev[:-1]";
  std::string text;
  for (std::size_t i = 0; i < spec_.inputs.size(); ++i)
    text += (i == 0 ? "" : ", ") + input_name(i);
  return text;
}

void Writer::helpers() {
  bool prepares = !spec_.data.empty() && (casts_on_host() || spec_.channels_last);
  for (const BatchTensor& input : spec_.inputs) prepares = prepares || needs_prepare(input);
  if (spec_.target) prepares = prepares || needs_prepare(*spec_.target);
  if (prepares) {
    out_.line("def prepare(t):");
    out_.open();
    if (casts_on_host()) out_.line("t = t.to({}) if t.is_floating_point() else t", dtype());
    if (spec_.channels_last) {
      out_.line("t = t.to(memory_format=torch.channels_last) if t.dim() == 4 else t");
    }
    out_.line("return t");
    out_.close();
  }
  if (casts_on_device()) {
    out_.line("def to_device(t):");
    out_.open();
    out_.line("t = t.to(\"cuda\")");
    out_.line("return t.to({}) if t.is_floating_point() else t", dtype());
    out_.close();
  }
  if (!spec_.data.empty() && !spec_.expand) {
    out_.line("dev = []");
    out_.line("def get_batch():");
    out_.open();
    out_.line("for i, t in enumerate({}):", spec_.data);
    out_.open();
    const std::string sent = to_device(prepares ? "prepare(t)" : "t");
    out_.line("if i < len(dev):");
    out_.line("    dev[i] = {}", sent);
    out_.line("else:");
    out_.line("    dev.append({})", sent);
    out_.close();
    out_.close();
  }
}

void Writer::setup() {
  out_.line("model = {}", model_);
  if (spec_.checkpoint != Spec::Checkpoint::kNone) {
    // Set on a model that never reads it, it would change nothing.
    out_.line("if not hasattr(model, \"checkpoint_mode\"):");
    out_.line(
        "    raise AttributeError(f\"train.checkpoint: {{type(model).__name__}} has no switch \"");
    out_.line(
        "                         \"checkpoint_mode; give its class checkpoint_mode = None \"");
    out_.line("                         \"and let forward() heed it\")");
    out_.line("model.checkpoint_mode = \"{}\"",
              spec_.checkpoint == Spec::Checkpoint::kEveryBlock ? "every-block"
              : spec_.checkpoint == Spec::Checkpoint::kEvery2   ? "every-2"
                                                                : "reentrant");
  }
  if (!spec_.prepare.empty()) out_.line("{}", spec_.prepare);
  if (casts_on_host()) out_.line("model = model.to({})", dtype());
  if (spec_.channels_last) out_.line("model = model.to(memory_format=torch.channels_last)");
  out_.line("model.{}()", spec_.training_mode ? "train" : "eval");
  if (spec_.parallel) share_model();
  const bool stays_on_host = spec_.parallel && spec_.parallel->offload;
  out_.line("with phase(\"model\"):");
  out_.open();
  if (!stays_on_host) out_.line("model = model.to(\"cuda\")");
  if (casts_on_device()) out_.line("model = model.to({})", dtype());
  if (stays_on_host && !casts_on_device()) out_.line("pass");
  out_.close();
  if (!spec_.ddp_world.empty()) {
    out_.line("with phase(\"ddp\"):");
    out_.open();
    out_.line("torch.distributed.init_process_group(\"nccl\", rank=0, world_size={})",
              spec_.ddp_world);
    out_.line("model = nn.parallel.DistributedDataParallel(model{})", spec_.ddp_arguments);
    out_.close();
  }
  if (!forward_only()) {
    out_.line("with phase(\"optimizer_init\"):");
    out_.open();
    const std::string_view comma = spec_.optimizer_arguments.empty() ? "" : ", ";
    if (spec_.decay_groups) {
      out_.line("params = list(model.parameters())");
      out_.line(
          "params = [{{\"params\": [p for p in params if p.dim() >= 2], \"weight_decay\": 0.1}},");
      out_.line(
          "          {{\"params\": [p for p in params if p.dim() < 2], \"weight_decay\": 0.0}}]");
      out_.line("opt = {}(params{}{})", spec_.optimizer, comma, spec_.optimizer_arguments);
    } else if (spec_.step_in_backward) {
      step_in_backward(comma);
    } else {
      out_.line("opt = {}(model.parameters(){}{})", spec_.optimizer, comma,
                spec_.optimizer_arguments);
    }
    if (has_pipeline()) {
      for (const std::string& line : pipeline_schedule(*spec_.parallel, parallel_loop()))
        out_.line("{}", line);
    }
    if (uses_scaler()) out_.line("scaler = torch.amp.GradScaler(\"cuda\")");
    out_.close();
  }
}

/// An optimizer for each weight, called by autograd.
void Writer::step_in_backward(std::string_view comma) {
  out_.line("opt = {{own_weight: {}([own_weight]{}{})", spec_.optimizer, comma,
            spec_.optimizer_arguments);
  out_.line("       for own_weight in model.parameters() if own_weight.requires_grad}}");
  out_.line("def step_in_backward(own_weight):");
  out_.line("    opt[own_weight].step()");
  out_.line("    opt[own_weight].zero_grad(set_to_none={})", spec_.set_to_none ? "True" : "False");
  out_.line("for own_weight in opt:");
  out_.line("    own_weight.register_post_accumulate_grad_hook(step_in_backward)");
}

ParallelLoop Writer::parallel_loop() const {
  ParallelLoop loop;
  for (const BatchTensor& input : spec_.inputs) loop.inputs.push_back(host(input));
  loop.loss = spec_.loss_is_expression ? spec_.loss : fmt::format("{}(out, y)", spec_.loss);
  if (casts_on_device()) loop.dtype = dtype();
  return loop;
}

/// What of a batch is as long as a sequence: all that has a dimension beside the batch.
std::vector<std::string> Writer::shared_sequences() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < spec_.inputs.size(); ++i)
    if (spec_.inputs[i].dims.value_or(2) > 1) names.push_back(input_name(i));
  if (spec_.target && spec_.target->dims.value_or(2) > 1) names.emplace_back("y");
  return names;
}

/// Of a sharded model the whole never lies on the device.
void Writer::share_model() {
  out_.line("with phase(\"parallel\"):");
  out_.open();
  step_values("0");
  for (const std::string& line : parallel_setup(*spec_.parallel, parallel_loop()))
    out_.line("{}", line);
  out_.close();
}

/// All micro-batches, forward and backward, as the pipeline's schedule has them.
void Writer::pipeline_step() {
  out_.phase("inputs", kStep);
  get_batch();
  out_.close();
  out_.phase("pipeline", kStep);
  out_.line("losses = [] if _is_last else None");
  std::string contexts = spec_.parallel->has_context()
                             ? sequence_context(*spec_.parallel, shared_sequences())
                             : std::string();
  if (is_amp()) contexts += (contexts.empty() ? "" : ", ") + autocast();
  if (!contexts.empty()) {
    out_.line("with {}:", contexts);
    out_.open();
  }
  out_.line("if _is_first:");
  out_.line(
      "    _schedule.step({}, target=y if _is_last else None, losses=losses, return_outputs=False)",
      arguments());
  out_.line("else:");
  out_.line(
      "    _schedule.step(target=y if _is_last else None, losses=losses, return_outputs=False)");
  if (!contexts.empty()) out_.close();
  out_.close();
}

void Writer::one_sample() {
  if (!spec_.expand) return;
  step_values("0");
  out_.line("with phase(\"inputs\"):");
  out_.open();
  out_.line("batch = 1");
  if (!spec_.data.empty()) {
    const bool prepares = casts_on_host() || spec_.channels_last;
    out_.line("one = [{} for t in {}]", to_device(prepares ? "prepare(t)" : "t"), spec_.data);
  } else {
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      out_.line("one_{} = {}", input_name(i), to_device(host(spec_.inputs[i])));
    }
    if (spec_.target) out_.line("one_y = {}", to_device(host(*spec_.target)));
  }
  out_.close();
}

void Writer::constants() {
  const auto one = [&](std::string_view name, const StepValues& values) {
    if (values.is_list) {
      out_.line("{} = [{}]", list_name(name), fmt::join(values.values, ", "));
    } else if (!values.values.empty() && values.values.front() != name) {
      out_.line("{} = {}", name, values.values.front());
    }
  };
  if (!spec_.expand || spec_.batch.is_list) one("batch", spec_.batch);
  one("seq", spec_.seq);
  one("image", spec_.image);
}

void Writer::step_values(std::string_view index) {
  const auto one = [&](std::string_view name, const StepValues& values) {
    if (values.is_list) out_.line("{} = {}[{}]", name, list_name(name), index);
  };
  one("batch", spec_.batch);
  if (spec_.expand && !spec_.batch.is_list && index == "step") {
    out_.line("batch = {}", spec_.batch.values.front());
  }
  one("seq", spec_.seq);
  one("image", spec_.image);
}

void Writer::zero_grad(std::string_view tag) {
  if (spec_.step_in_backward) return;
  out_.phase("zero_grad", tag);
  out_.line("opt.zero_grad(set_to_none={})", spec_.set_to_none ? "True" : "False");
  out_.close();
}

void Writer::get_batch() {
  if (spec_.expand) {
    if (!spec_.data.empty()) {
      out_.line("dev = [t.expand(batch, *t.shape[1:]) for t in one]");
      return;
    }
    for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
      out_.line("{0} = one_{0}.expand(batch, *one_{0}.shape[1:])", input_name(i));
    }
    if (spec_.target) out_.line("y = one_y.expand(batch, *one_y.shape[1:])");
    return;
  }
  if (!spec_.data.empty()) {
    out_.line("get_batch()");
    return;
  }
  for (std::size_t i = 0; i < spec_.inputs.size(); ++i) {
    out_.line("{} = {}", input_name(i), to_device(host(spec_.inputs[i])));
  }
  if (spec_.target) out_.line("y = {}", to_device(host(*spec_.target)));
}

void Writer::output_and_loss() {
  out_.line("out = model({})", arguments());
  if (spec_.loss_is_expression) {
    out_.line("loss = {}", spec_.loss);
  } else {
    out_.line("loss = {}(out, {})", spec_.loss, target());
  }
}

void Writer::forward() {
  out_.phase("forward", tag());
  std::string contexts;
  if (spec_.no_grad) contexts = "torch.no_grad()";
  if (is_amp()) contexts += (contexts.empty() ? "" : ", ") + autocast();
  if (spec_.save_on_cpu) {
    contexts += contexts.empty() ? "" : ", ";
    contexts += "torch.autograd.graph.save_on_cpu(pin_memory=True)";
  }
  if (!contexts.empty()) {
    out_.line("with {}:", contexts);
    out_.open();
  }
  if (forward_only()) {
    out_.line("out = model({})", arguments());
  } else {
    output_and_loss();
    if (accumulates()) out_.line("loss = loss / {}", spec_.accumulate);
  }
  if (!contexts.empty()) out_.close();
  out_.close();
}

void Writer::micro_step() {
  out_.phase("inputs", tag());
  get_batch();
  out_.close();
  const bool has_context = spec_.parallel && spec_.parallel->has_context();
  if (has_context) {
    out_.line("with {}:", sequence_context(*spec_.parallel, shared_sequences()));
    out_.open();
  }
  forward();
  if (!forward_only()) backward();
  if (has_context) out_.close();
}

void Writer::backward() {
  if (spec_.zero_grad_at == Spec::ZeroGradAt::kBeforeBackward) {
    if (accumulates()) {
      out_.line("if micro == 0:");
      out_.open();
    }
    zero_grad(tag());
    if (accumulates()) out_.close();
  }
  out_.phase("backward", tag());
  out_.line("{}.backward()", uses_scaler() ? "scaler.scale(loss)" : "loss");
  out_.close();
}

void Writer::update() {
  if (!spec_.clip.empty()) {
    out_.phase("clip", kStep);
    if (uses_scaler()) out_.line("scaler.unscale_(opt)");
    const std::string_view foreach_argument = !spec_.clip_foreach   ? ""
                                              : *spec_.clip_foreach ? ", foreach=True"
                                                                    : ", foreach=False";
    out_.line("torch.nn.utils.clip_grad_norm_(model.parameters(), {}{})", spec_.clip,
              foreach_argument);
    out_.close();
  }
  if (!spec_.step_in_backward) {
    out_.phase("optimizer", kStep);
    if (uses_scaler()) {
      out_.line("scaler.step(opt)");
      out_.line("scaler.update()");
    } else {
      out_.line("opt.step()");
    }
    out_.close();
  }
  if (spec_.zero_grad_at == Spec::ZeroGradAt::kEnd) zero_grad(kStep);
  out_.phase("item", kStep);
  if (has_pipeline()) {
    out_.line("if _is_last:");
    out_.line("    torch.stack(losses).mean().item()");
  } else {
    out_.line("loss.item()");
  }
  out_.close();
}

void Writer::metric() {
  if (spec_.metric == Spec::Metric::kNone) return;
  out_.phase("metric", kStep);
  if (spec_.metric == Spec::Metric::kDevice) {
    out_.line("(out.argmax(dim=1) == {}).sum().item()", target());
  } else {
    out_.line("pred = out.argmax(dim=1).cpu()");
    out_.line("(pred == {}.cpu()).float().mean()", target());
  }
  out_.close();
}

void Writer::validate() {
  if (spec_.validate_every.empty()) return;
  out_.line("if (step + 1) % {} == 0:", spec_.validate_every);
  out_.open();
  out_.phase("validate", kStep);
  out_.line("model.eval()");
  out_.line("with torch.no_grad():");
  out_.open();
  out_.line("for i in range({}):", spec_.validate_batches);
  out_.open();
  get_batch();
  if (is_amp()) {
    out_.line("with {}:", autocast());
    out_.open();
  }
  output_and_loss();
  if (is_amp()) out_.close();
  out_.line("loss.item()");
  out_.close();
  out_.close();
  out_.line("model.train()");
  out_.close();
  out_.close();
}

void Writer::step() {
  const bool handles_oom = spec_.on_oom != Spec::OnOom::kRaise;
  if (handles_oom) {
    out_.line("try:");
    out_.open();
  }
  const bool zeroes_at_start = spec_.zero_grad_at == Spec::ZeroGradAt::kStart ||
                               (has_pipeline() && spec_.zero_grad_at != Spec::ZeroGradAt::kEnd);
  if (!forward_only() && zeroes_at_start) zero_grad(kStep);
  if (has_pipeline()) {
    pipeline_step();
  } else {
    if (accumulates()) {
      out_.line("for micro in range({}):", spec_.accumulate);
      out_.open();
    }
    micro_step();
    if (accumulates()) out_.close();
  }
  if (!forward_only()) update();
  metric();
  if (spec_.del_outputs) {
    out_.phase("end", kStep);
    out_.line("{}", forward_only() ? "del out" : "del out, loss");
    out_.close();
  }
  if (handles_oom) {
    out_.close();
    out_.line("except torch.OutOfMemoryError as e:");
    out_.open();
    if (spec_.on_oom == Spec::OnOom::kNext) {
      out_.phase("oom", kStep);
      out_.line("torch.cuda.empty_cache()");
      out_.close();
      out_.line("continue");
    } else {
      out_.line("break");
    }
    out_.close();
  }
  if (spec_.empty_cache) {
    out_.phase("empty_cache", kStep);
    out_.line("torch.cuda.empty_cache()");
    out_.close();
  }
  validate();
}

std::string Writer::write() {
  helpers();
  constants();
  setup();
  one_sample();
  out_.line("for step in range({}):", spec_.steps);
  out_.open();
  step_values("step");
  step();
  out_.close();
  return out_.take();
}

}  // namespace

std::string train_to_loop(const TrainSpec& spec, std::string_view model_expression) {
  return Writer(spec, model_expression).write();
}

std::string model_prologue(std::string_view model_expression) {
  Listing out;
  out.line("model = {}", model_expression);
  out.line("with phase(\"model\"):");
  out.open();
  out.line("model = model.to(\"cuda\")");
  return out.take();
}

}  // namespace tidemark
