#include "sim/torch/source/model_source.h"

#include <cctype>
#include <optional>
#include <string_view>

#include "sim/lang/builtins/python.h"
#include "sim/library/library.h"
#include "sim/torch/emitter/emitter.h"
#include "sim/torch/namespaces/torch_module.h"
#include "sim/torch/source/repetition.h"
#include "sim/torch/tensors/custom_op.h"
#include "sim/torch/tensors/session.h"

namespace tidemark::torch {

namespace {

/// Whether a keyword stands in a text as a word of its own. It may stand in a comment or string:
/// the answer then costs some speed, never exactness.
bool has_keyword(const std::shared_ptr<const SourceText>& source, std::string_view word) {
  if (!source) return false;
  const std::string_view text = source->text;
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_name(text[at - 1]);
    const bool ends = at + word.size() == text.size() || !is_name(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

/// The same error; where torch or a package has no such name, with what to do about it.
lang::UncaughtException with_way_out(const lang::UncaughtException& error) {
  const std::string_view text = error.message;
  const bool is_of_torch =
      error.type_name == "AttributeError" &&
      (text.starts_with("module 'torch") || text.starts_with("'Tensor' object") ||
       text.starts_with("'Parameter' object"));
  Problem problem = error.problems().front();
  if (is_of_torch || error.type_name == "ModuleNotFoundError") {
    if (!problem.hint.empty()) problem.hint += "; ";
    problem.hint += is_of_torch
                        ? kWayOut
                        : "operators of a package can be declared as custom ops: docs/scenario.md";
  }
  return {std::move(problem), error.type_name, error.message, error.stack};
}

/// Names that every program has without an import.
constexpr std::string_view kCommon =
    "import math\n"
    "import torch\n"
    "from torch import nn\n"
    "import torch.nn.functional as F\n"
    "from torch._marks import phase, mark\n";

}  // namespace

ModelSource::ModelSource(ModelProgram program, lang::PrintSink print)
    : model_(std::move(program)), print_(std::move(print)) {}

ModelSource::~ModelSource() = default;

void ModelSource::run(Program& program, Sink& sink) {
  // Code that handles exceptions may go on after a refused request: it must learn of it at once.
  const bool lockstep = has_keyword(model_.model, "except") || has_keyword(model_.loop, "except");
  Emitter emitter(program, sink, lockstep);
  if (model_.details != nullptr) emitter.record_graph(*model_.details);
  if (model_.kernels != nullptr) emitter.record_kernels(*model_.kernels);
  lang::Interp::Options options;
  options.limits = model_.limits;
  std::uint64_t printed = 0;
  options.print = [&](std::string_view text) {
    printed += text.size();
    if (print_) print_(text);
  };
  options.resolver = model_.resolver;
  options.library = library::all();
  {
    lang::Python interp(std::move(options));
    Session session(interp, emitter, model_.devices);
    add_modules(session);
    session.c.backends = model_.backends;
    std::optional<ModelWatch> watch;
    if (model_.watched != nullptr) session.watch = &watch.emplace(session, *model_.watched);
    Repetition repetition(session, printed);
    if (model_.leave_out_repeats) interp.set_loop_watcher(&repetition);
    try {
      // A model's file is imported: what it does when it is run as a program is no part of the
      // model.
      const std::string_view common = model_.is_script ? std::string_view() : kCommon;
      const Ref<lang::Module> main =
          interp.run(std::make_shared<const SourceText>(SourceText{"<names>", std::string(common)}),
                     model_.is_script ? "__main__" : "scenario");
      if (!model_.ops.empty()) {
        std::vector<std::pair<std::string, lang::Value>> constants;
        for (const auto& [name, expression] : model_.names)
          constants.emplace_back(name, interp.evaluate(*main, expression));
        add_custom_ops(session, model_.ops, constants, model_.resolver);
      }
      if (model_.is_script) emitter.name_phases();
      if (model_.model) interp.run_in(*main, model_.model);
      for (const auto& [name, expression] : model_.names) {
        if (model_.is_script) break;
        main->set(interp.intern(name), interp.evaluate(*main, expression));
      }
      if (model_.setup) interp.run_in(*main, model_.setup);
      if (model_.loop) interp.run_in(*main, model_.loop);
      emitter.flush();
      emitter.stop();
    } catch (const RunOver& over) {
      ended_by_oom_ = true;
      oom_message_ = over.message;
      emitter.stop();
    } catch (const lang::UncaughtException& e) {
      emitter.stop();
      if (e.type_name != "torch.OutOfMemoryError") throw with_way_out(e);
      ended_by_oom_ = true;
      oom_message_ = e.message;
    } catch (...) {
      emitter.stop();
      throw;
    }
    session.release();
  }
  emitter.graph().on_backward = nullptr;
  graph_ = std::make_unique<graph::OpGraph>(std::move(emitter.graph()));
}

}  // namespace tidemark::torch
