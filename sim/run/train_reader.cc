#include "sim/run/train_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/lang/syntax/names.h"
#include "sim/lang/syntax/parser.h"
#include "sim/run/scenario_fields.h"
#include "sim/yaml/yaml_fields.h"

namespace tidemark {
namespace {

/// Source: torch/optim/__init__.py of 2.11.
constexpr std::array<std::string_view, 15> kOptimizers{
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam",  "AdamW", "Adamax",    "LBFGS",
    "Muon", "NAdam",    "RAdam",     "RMSprop", "Rprop", "SGD",   "SparseAdam"};

/// Functions of torch.nn.functional that are called with an output and a target.
constexpr std::array<std::string_view, 17> kLosses{"binary_cross_entropy",
                                                   "binary_cross_entropy_with_logits",
                                                   "cross_entropy",
                                                   "gaussian_nll_loss",
                                                   "hinge_embedding_loss",
                                                   "huber_loss",
                                                   "kl_div",
                                                   "l1_loss",
                                                   "mse_loss",
                                                   "multi_margin_loss",
                                                   "multilabel_margin_loss",
                                                   "multilabel_soft_margin_loss",
                                                   "nll_loss",
                                                   "poisson_nll_loss",
                                                   "smooth_l1_loss",
                                                   "soft_margin_loss",
                                                   "ctc_loss"};

/// Of the dtypes that a tensor may be given.
bool is_floating(std::string_view dtype) {
  return dtype.starts_with("float") || dtype.starts_with("bfloat") || dtype == "double" ||
         dtype == "half";
}

/// Whether a name stands in an expression as a word of its own.
bool mentions(std::string_view expression, std::string_view name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (std::size_t at = expression.find(name); at != std::string_view::npos;
       at = expression.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_part(expression[at - 1])) &&
        (end == expression.size() || !is_part(expression[end])))
      return true;
  }
  return false;
}

class Reader {
 public:
  Reader(const yaml::Node& node, const std::vector<Parameter>& params,
         std::vector<Problem>& problems)
      : fields_(node, "train", problems, kTrainMap), params_(params), problems_(problems) {}

  TrainSpec read() {
    read_sizes();
    read_batch();
    read_loss();
    read_prepare();
    read_optimizer();
    read_precision();
    read_ddp();
    read_parallel();
    read_loop_options();
    fields_.done();
    return std::move(spec_);
  }

 private:
  void report(const yaml::Node& at, std::string_view key, std::string message,
              std::string hint = {}) {
    fields_.report(at, key, std::move(message), std::move(hint));
  }
  [[nodiscard]] std::optional<std::int64_t> integer_of(const yaml::Node& node) const {
    const Parameter* parameter = named_parameter(node, params_);
    return parameter != nullptr ? parameter->integer : yaml::integer(node);
  }
  /// A whole number of at least `least`, as it is written, or a parameter's name.
  std::optional<std::string> count(const yaml::Node& node, std::string_view key,
                                   std::int64_t least) {
    const std::optional<std::int64_t> value = integer_of(node);
    if (!value) {
      std::string found = describe(node);
      const Parameter* parameter = named_parameter(node, params_);
      if (parameter != nullptr) found += fmt::format(", which is {}", parameter->value);
      report(node, key, fmt::format("expected an integer or a parameter, found {}", found),
             parameter == nullptr ? suggestion(node) : std::string());
      return std::nullopt;
    }
    if (*value < least) {
      report(node, key, fmt::format("must be {} or more, found {}", least, *value));
      return std::nullopt;
    }
    return named_parameter(node, params_) != nullptr ? node.text : std::to_string(*value);
  }
  void read_count(std::string_view key, std::string& into) {
    const yaml::Node* node = fields_.get(key);
    if (node == nullptr) return;
    if (auto text = count(*node, key, fields_.form(key).least)) into = std::move(*text);
  }
  [[nodiscard]] std::string suggestion(const yaml::Node& node) const {
    if (!node.is_plain()) return {};
    std::vector<std::string_view> names;
    for (const Parameter& parameter : params_) names.push_back(parameter.name);
    return did_you_mean(node.text, names);
  }

  void read_sizes() {
    std::size_t listed = 0;
    std::string_view listed_key;
    const std::array<std::pair<std::string_view, StepValues*>, 3> sizes{
        {{"batch", &spec_.batch}, {"seq", &spec_.seq}, {"image", &spec_.image}}};
    for (const auto& [key, values] : sizes) {
      const yaml::Node* node = fields_.get(key);
      if (node == nullptr) continue;
      values->is_list = node->kind == yaml::Node::Kind::kList;
      if (!values->is_list) {
        if (auto text = count(*node, key, 1)) values->values = {std::move(*text)};
        continue;
      }
      if (node->items.empty()) report(*node, key, "an empty list");
      for (const yaml::Node& item : node->items) {
        if (auto text = count(item, key, 1)) values->values.push_back(std::move(*text));
      }
      if (listed != 0 && listed != node->items.size()) {
        report(*node, key,
               fmt::format("has {} values, but {} has {}", node->items.size(), listed_key, listed));
      }
      listed = node->items.size();
      listed_key = key;
    }
    if (listed != 0) spec_.steps = std::to_string(listed);
    read_count("steps", spec_.steps);
    const yaml::Node* steps = fields_.get("steps");
    if (steps == nullptr || listed == 0) return;
    const std::optional<std::int64_t> value = integer_of(*steps);
    if (value && static_cast<std::size_t>(*value) != listed) {
      report(*steps, "steps",
             fmt::format("is {}, but {} has {} values", *value, listed_key, listed));
    }
  }

  std::optional<BatchTensor> shape(const yaml::Node& list, std::string_view key,
                                   std::string_view dtype) {
    if (list.kind != yaml::Node::Kind::kList) {
      report(list, key,
             fmt::format("expected a shape (a list of sizes), found {}", describe(list)));
      return std::nullopt;
    }
    BatchTensor tensor;
    tensor.host = "torch.zeros(batch";
    bool is_whole = true;
    for (const yaml::Node& item : list.items) {
      if (item.is_plain() && (item.text == "seq" || item.text == "image")) {
        if ((item.text == "seq" ? spec_.seq : spec_.image).values.empty()) {
          report(item, key, fmt::format("'{0}' needs train.{0}", item.text));
        }
        tensor.host += ", " + item.text;
      } else if (auto size = count(item, key, 0)) {
        tensor.host += ", " + *size;
      } else {
        is_whole = false;
      }
    }
    if (dtype != "float32") tensor.host += fmt::format(", dtype=torch.{}", dtype);
    tensor.host += ")";
    tensor.dims = list.items.size() + 1;
    tensor.is_floating = is_floating(dtype);
    return is_whole ? std::optional(tensor) : std::nullopt;
  }

  std::optional<BatchTensor> tensor(const yaml::Node& node, std::string_view key,
                                    std::string_view usual_dtype) {
    if (node.kind == yaml::Node::Kind::kList) return shape(node, key, usual_dtype);
    if (node.is_text()) {
      check_expression(node, fields_.path_of(key), problems_);
      return BatchTensor{node.text, std::nullopt, std::nullopt};
    }
    yaml::Fields map(node, fields_.path_of(key), problems_, kTensorMap);
    map.require_all();
    const yaml::Node* sizes = map.get("shape");
    const std::optional<std::size_t> dtype = map.choice("dtype");
    map.done();
    return sizes == nullptr
               ? std::nullopt
               : shape(*sizes, key, dtype ? map.form("dtype").choices[*dtype] : usual_dtype);
  }

  void read_batch() {
    const yaml::Node* data = fields_.get("data");
    const yaml::Node* input = fields_.get("input");
    const yaml::Node* inputs = fields_.get("inputs");
    const yaml::Node* target = fields_.get("target");
    if (data != nullptr) {
      for (const auto& [node, key] :
           {std::pair{input, "input"}, std::pair{inputs, "inputs"}, std::pair{target, "target"}}) {
        if (node != nullptr)
          report(*node, key, "cannot stand beside data, which gives the whole batch");
      }
      if (!data->is_text()) {
        report(*data, "data", fmt::format("expected an expression, found {}", describe(*data)));
      } else {
        check_expression(*data, "train.data", problems_);
        spec_.data = data->text;
      }
      return;
    }
    if (input == nullptr && inputs == nullptr) {
      problems_.push_back(
          {fields_.node().at, "train", "the batch is missing", "give input, inputs or data"});
    }
    if (spec_.batch.values.empty() && !fields_.has("batch")) fields_.require("batch");
    if (input != nullptr && inputs != nullptr)
      report(*inputs, "inputs", "cannot stand beside input");
    if (input != nullptr) {
      if (auto read = tensor(*input, "input", "float32")) spec_.inputs.push_back(std::move(*read));
    } else if (inputs != nullptr && inputs->kind != yaml::Node::Kind::kList) {
      report(*inputs, "inputs", fmt::format("expected a list, found {}", describe(*inputs)));
    } else if (inputs != nullptr) {
      for (const yaml::Node& item : inputs->items) {
        if (auto read = tensor(item, "inputs", "float32")) spec_.inputs.push_back(std::move(*read));
      }
    }
    if (target == nullptr) return;
    if (target->is_text() && target->text == "input") {
      if (!spec_.inputs.empty()) spec_.target = spec_.inputs.front();
    } else {
      spec_.target = tensor(*target, "target", "long");
    }
  }

  void read_loss() {
    const yaml::Node* node = fields_.get("loss");
    if (node == nullptr) return;
    if (!node->is_text()) {
      report(*node, "loss",
             fmt::format("expected a function or an expression, found {}", describe(*node)));
      return;
    }
    check_expression(*node, "train.loss", problems_);
    spec_.loss = node->text;
    spec_.loss_is_expression = spec_.loss.ends_with(')') || spec_.loss.ends_with(']');
    if (std::find(kLosses.begin(), kLosses.end(), spec_.loss) != kLosses.end())
      spec_.loss.insert(0, "F.");
    if (spec_.loss_is_expression && !spec_.data.empty()) {
      report(*node, "loss", "with data, give a function: the batch has no names", {});
    }
  }

  void read_prepare() {
    const yaml::Node* node = fields_.get("prepare");
    if (node == nullptr) return;
    if (!node->is_text()) {
      report(*node, "prepare", fmt::format("expected Python code, found {}", describe(*node)));
      return;
    }
    lang::Names names;
    std::vector<Problem> found;
    lang::parse_module(embedded_source(*node), names, found);
    for (Problem& problem : found) {
      problem.path = "train.prepare";
      problems_.push_back(std::move(problem));
    }
    spec_.prepare = node->text;
    while (spec_.prepare.ends_with('\n')) spec_.prepare.pop_back();
  }

  void read_optimizer() {
    const yaml::Node* node = fields_.get("optimizer");
    if (node == nullptr) return;
    if (node->kind == yaml::Node::Kind::kMap) {
      yaml::Fields map(*node, "train.optimizer", problems_, kOptimizerMap);
      map.require_all();
      spec_.optimizer = map.text("class").value_or("");
      spec_.optimizer_arguments.clear();
      if (const yaml::Node* args = map.get("args")) {
        for (const yaml::Entry& entry : args->entries) {
          spec_.optimizer_arguments +=
              fmt::format("{}{}={}", spec_.optimizer_arguments.empty() ? "" : ", ", entry.key,
                          literal_of(entry.value, params_));
        }
      }
      map.done();
      return;
    }
    if (!node->is_text()) {
      report(*node, "optimizer",
             fmt::format("expected an optimizer like Adam(lr=1e-3), found {}", describe(*node)));
      return;
    }
    const std::size_t problems = problems_.size();
    check_expression(*node, "train.optimizer", problems_);
    if (problems_.size() != problems) return;
    const std::string& text = node->text;
    const std::size_t open = std::min(text.find('('), text.size());
    spec_.optimizer = text.substr(0, open);
    spec_.optimizer_arguments =
        open == text.size() ? std::string() : text.substr(open + 1, text.rfind(')') - open - 1);
    if (spec_.optimizer.find('.') != std::string::npos) return;
    if (mentions(spec_.prepare, spec_.optimizer)) return;  // one of its own
    if (std::find(kOptimizers.begin(), kOptimizers.end(), spec_.optimizer) == kOptimizers.end()) {
      std::string hint = did_you_mean(spec_.optimizer, {kOptimizers.begin(), kOptimizers.end()});
      if (hint.empty())
        hint = fmt::format("known are {}; one of your own: {{class: NAME}}",
                           fmt::join(kOptimizers, ", "));
      report(*node, "optimizer", fmt::format("unknown optimizer '{}'", spec_.optimizer),
             std::move(hint));
    }
    spec_.optimizer.insert(0, "torch.optim.");
  }

  template <class Enum>
  void read_choice(std::string_view key, Enum& into) {
    if (const auto read = fields_.choice(key)) into = static_cast<Enum>(*read);
  }
  void read_boolean(std::string_view key, bool& into) {
    into = fields_.boolean(key).value_or(into);
  }

  void read_precision() {
    read_choice("precision", spec_.precision);
    read_choice("cast", spec_.cast);
    read_boolean("scaler", spec_.scaler);
    read_boolean("channels_last", spec_.channels_last);
    read_choice("checkpoint", spec_.checkpoint);
    read_choice("param_groups", spec_.decay_groups);
  }

  /// `ddp`: how many ranks, or a map with that and options of the wrapper.
  void read_ddp() {
    const yaml::Node* node = fields_.get("ddp");
    if (node == nullptr) return;
    if (node->kind != yaml::Node::Kind::kMap) {
      if (auto world = count(*node, "ddp", 1)) spec_.ddp_world = std::move(*world);
      return;
    }
    yaml::Fields map(*node, "train.ddp", problems_, kDdpMap);
    map.require_all();
    if (const yaml::Node* world = map.get("world_size")) {
      if (auto text = count(*world, "ddp.world_size", 1)) spec_.ddp_world = std::move(*text);
    }
    for (const std::string_view key : {"broadcast_buffers", "find_unused_parameters",
                                       "gradient_as_bucket_view", "static_graph"}) {
      if (const auto value = map.boolean(key)) {
        spec_.ddp_arguments += fmt::format(", {}={}", key, *value ? "True" : "False");
      }
    }
    if (const yaml::Node* cap = map.get("bucket_cap_mb")) {
      if (map.number("bucket_cap_mb"))
        spec_.ddp_arguments += fmt::format(", bucket_cap_mb={}", cap->text);
    }
    map.done();
  }

  /// `parallel`: how the ranks of `ranks` share the model.
  void read_parallel() {
    const yaml::Node* node = fields_.get("parallel");
    if (node == nullptr) return;
    if (!spec_.ddp_world.empty())
      report(*node, "parallel", "cannot stand beside ddp", "replicate makes copies");
    yaml::Fields map(*node, "train.parallel", problems_, kParallelMap);
    ParallelSpec spec;
    const auto read = [&](std::string_view key, std::string& into) {
      const yaml::Node* value = map.get(key);
      if (value == nullptr) return;
      if (auto text = count(*value, fmt::format("parallel.{}", key), 1)) into = std::move(*text);
    };
    read("fsdp", spec.fsdp);
    read("replicate", spec.replicate);
    read("tp", spec.tp);
    read("microbatches", spec.microbatches);
    read("stages", spec.stages);
    // A parameter that is 1 stands for no pipeline.
    const auto read_number = [&](std::string_view key, std::string& into) {
      read(key, into);
      const yaml::Node* value = map.get(key);
      if (value == nullptr) return;
      if (const auto number = integer_of(*value)) into = std::to_string(*number);
    };
    read_number("cp", spec.cp);
    read_number("pp", spec.pp);
    read_number("ep", spec.ep);
    if (const yaml::Node* experts = map.get("experts")) {
      for (const yaml::Node& one : experts->items) spec.experts.push_back(one.text);
    }
    if (const auto schedule = map.choice("schedule"))
      spec.schedule = kPipelineSchedules[*schedule].kind;
    if (const yaml::Node* buffers = map.get("sequence_buffers");
        buffers != nullptr && buffers->kind == yaml::Node::Kind::kMap) {
      for (const yaml::Entry& entry : buffers->entries)
        spec.sequence_buffers.emplace_back(entry.key, entry.value.text);
    }
    spec.reshard = map.boolean("reshard").value_or(spec.reshard);
    spec.offload = map.boolean("offload").value_or(spec.offload);
    if (const auto precision = map.choice("precision"))
      spec.precision = *precision == 0 ? "torch.bfloat16" : "torch.float16";
    read_plan(map, spec);
    if (spec.tp != "1" && spec.plan.empty())
      map.report(*node, "plan", "tp needs a plan", "plan: {'blocks.*.mlp.up': colwise, ...}");
    if (spec.has_experts() && spec.experts.empty())
      map.report(*node, "experts", "ep needs the modules of experts",
                 "experts: [blocks.*.experts]");
    if (spec.has_experts() && (spec.tp != "1" || spec.has_context())) {
      map.report(*node, "ep", "stands beside fsdp, replicate and pp alone",
                 "leave out tp and cp, or ep");
    }
    map.done();
    spec_.parallel = std::move(spec);
  }

  /// What a pipeline's schedule has no place for.
  void refuse_beside_pipeline() {
    if (!spec_.parallel || !(spec_.parallel->has_pipeline() || spec_.parallel->has_context()))
      return;
    const bool is_pipeline = spec_.parallel->has_pipeline();
    const std::string_view what = is_pipeline ? "pp" : "cp";
    const auto refuse = [&](std::string_view key, bool is_there, std::string_view why) {
      const yaml::Node* node = fields_.get(key);
      if (is_there && node != nullptr)
        report(*node, key, fmt::format("cannot stand beside parallel.{}: {}", what, why));
    };
    refuse("data", !spec_.data.empty(), "give inputs and target");
    refuse("expand", spec_.expand, "micro-batches are cut from a batch");
    if (!is_pipeline) return;
    refuse("accumulate", spec_.accumulate != "1", "microbatches are its accumulation");
    refuse("no_grad", spec_.no_grad, "a schedule runs backward passes");
    refuse("forward_only", spec_.forward_only, "a schedule runs backward passes");
    refuse("validate_every", !spec_.validate_every.empty(), "a schedule runs backward passes");
    refuse("metric", spec_.metric != TrainSpec::Metric::kNone, "only the last stage has out");
    refuse("del_outputs", spec_.del_outputs, "only the last stage has out");
    refuse("save_on_cpu", spec_.save_on_cpu, "it holds for a loop's own forward pass");
    refuse("precision",
           spec_.precision == TrainSpec::Precision::kAmpFp16 && spec_.scaler && !spec_.no_grad,
           "a schedule scales no losses; take amp-bf16, or scaler: false");
    refuse("batch", spec_.batch.is_list, "stages are made for one size");
    refuse("seq", spec_.seq.is_list, "stages are made for one size");
    refuse("image", spec_.image.is_list, "stages are made for one size");
  }

  void read_plan(yaml::Fields& map, ParallelSpec& spec) {
    const yaml::Node* node = map.get("plan");
    if (node == nullptr || node->kind != yaml::Node::Kind::kMap) return;
    yaml::Fields plan(*node, "train.parallel.plan", problems_);
    for (const yaml::Entry& entry : node->entries) {
      if (const auto style = plan.choice(entry.key, kParallelStyleNames))
        spec.plan.emplace_back(entry.key, kParallelStyles[*style].call);
    }
  }

  void read_loop_options() {
    read_count("accumulate", spec_.accumulate);
    read_boolean("set_to_none", spec_.set_to_none);
    read_choice("zero_grad", spec_.zero_grad_at);
    if (const yaml::Node* node = fields_.get("clip")) {
      if (fields_.number("clip")) spec_.clip = node->text;
    }
    spec_.clip_foreach = fields_.boolean("clip_foreach");
    read_choice("metric", spec_.metric);
    read_count("validate_every", spec_.validate_every);
    read_count("validate_batches", spec_.validate_batches);
    read_boolean("no_grad", spec_.no_grad);
    read_boolean("forward_only", spec_.forward_only);
    spec_.training_mode = fields_.choice("mode").value_or(spec_.no_grad ? 1 : 0) == 0;
    read_choice("empty_cache", spec_.empty_cache);
    read_boolean("expand", spec_.expand);
    read_boolean("del_outputs", spec_.del_outputs);
    read_choice("oom", spec_.on_oom);
    read_boolean("step_in_backward", spec_.step_in_backward);
    read_boolean("save_on_cpu", spec_.save_on_cpu);
    refuse_beside_step_in_backward();
    refuse_beside_pipeline();
    if (spec_.expand && spec_.batch.values.empty()) fields_.require("batch");
    const bool has_target = spec_.target || !spec_.data.empty() || fields_.has("target") ||
                            (spec_.loss_is_expression && !mentions(spec_.loss, "y"));
    if (!has_target && !spec_.no_grad && !spec_.forward_only) {
      fields_.require("target");
    }
    if (!has_target) {
      for (const std::string_view key : {"metric", "validate_every"}) {
        if (const yaml::Node* node = fields_.get(key)) report(*node, key, "needs a target");
      }
    }
  }

  /// What needs all gradients together, or those of several passes.
  void refuse_beside_step_in_backward() {
    if (!spec_.step_in_backward) return;
    using Precision = TrainSpec::Precision;
    const std::array<std::pair<std::string_view, bool>, 6> others{
        {{"clip", !spec_.clip.empty()},
         {"accumulate", spec_.accumulate != "1"},
         {"param_groups", spec_.decay_groups},
         {"precision", spec_.precision == Precision::kAmpFp16 && spec_.scaler},
         {"ddp", !spec_.ddp_world.empty()},
         {"parallel", spec_.parallel.has_value()}}};
    for (const auto& [key, is_there] : others) {
      if (!is_there) continue;
      report(*fields_.get("step_in_backward"), "step_in_backward",
             fmt::format("cannot stand beside {}: no step sees all gradients", key));
    }
  }

  yaml::Fields fields_;
  const std::vector<Parameter>& params_;
  std::vector<Problem>& problems_;
  TrainSpec spec_;
};

}  // namespace

TrainSpec read_train(const yaml::Node& node, const std::vector<Parameter>& params,
                     std::vector<Problem>& problems) {
  return Reader(node, params, problems).read();
}

void check_expression(const yaml::Node& node, const std::string& path,
                      std::vector<Problem>& problems) {
  lang::Names names;
  std::vector<Problem> found;
  lang::parse_expression(embedded_source(node), names, found);
  for (Problem& problem : found) {
    problem.path = path;
    problems.push_back(std::move(problem));
  }
}

}  // namespace tidemark
