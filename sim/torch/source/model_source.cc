#include "sim/torch/source/model_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "sim/lang/builtins/python.h"
#include "sim/lang/imports/host_view.h"
#include "sim/lang/runtime/rank_value.h"
#include "sim/library/library.h"
#include "sim/ops/releases.h"
#include "sim/ops/tracer.h"
#include "sim/torch/emitter/emitter.h"
#include "sim/torch/namespaces/torch_module.h"
#include "sim/torch/source/messages.h"
#include "sim/torch/source/repetition.h"
#include "sim/torch/tensors/custom_op.h"
#include "sim/torch/tensors/op_binding.h"
#include "sim/torch/tensors/part_of_rank.h"
#include "sim/torch/tensors/reading.h"
#include "sim/torch/tensors/session.h"
#include "sim/torch/tensors/tensor_object.h"

namespace tidemark::torch {

namespace {

/// What to do about a name that torch does not have; empty: the object is none of torch's.
std::string way_out(const lang::Value& object, Version release) {
  const auto* module = object.as<lang::Module>();
  std::string later = module != nullptr ? ops::later_names(module->name, release) : std::string();
  if (!later.empty()) return later;
  const bool is_of_torch = module != nullptr
                               ? module->name == "torch" || module->name.starts_with("torch.")
                               : object.as<TensorObject>() != nullptr;
  return is_of_torch ? kWayOut : std::string();
}

/// Whether it is the key of a variable that torchrun gives its processes.
bool is_key_of_torchrun(const lang::UncaughtException& error) {
  constexpr std::array<std::string_view, 6> kKeys{"'RANK'",       "'LOCAL_RANK'",  "'WORLD_SIZE'",
                                                  "'GROUP_RANK'", "'MASTER_ADDR'", "'MASTER_PORT'"};
  return error.type_name == "KeyError" &&
         std::find(kKeys.begin(), kKeys.end(), error.message) != kKeys.end();
}

/// The same error; where a package or a job is not there, with what to do about it.
lang::UncaughtException with_way_out(const lang::UncaughtException& error) {
  Problem problem = error.problems().front();
  if (is_key_of_torchrun(error)) {
    if (!problem.hint.empty()) problem.hint += "; ";
    problem.hint += "torchrun sets it: '--world N' runs the program as a job of N processes";
  }
  if (error.type_name == "ModuleNotFoundError") {
    if (!problem.hint.empty()) problem.hint += "; ";
    problem.hint += "operators of a package can be declared as custom ops: docs/scenario.md";
  }
  return {std::move(problem), error.causes, error.message, error.stack};
}

/// sys.exit() and sys.exit(0): the program has ended as it wanted to.
bool is_good_exit(const lang::UncaughtException& error) {
  return error.type_name == "SystemExit" &&
         (error.message.empty() || error.message == "0" || error.message == "None");
}

/// sys.exit(3), raise SystemExit("no data"): what a program did until then is its answer, and how
/// it ended is noted. One that had asked for nothing yet (wrong arguments) has given none.
bool is_noted_exit(const lang::UncaughtException& error, const Emitter& emitter,
                   lang::Notes& notes) {
  if (error.type_name != "SystemExit" || emitter.amounts().requests == 0) return false;
  const bool is_number =
      !error.message.empty() && error.message.find_first_not_of("0123456789") == std::string::npos;
  notes.add(error.problems().front().at,
            is_number ? fmt::format("the program ends itself with exit code {}", error.message)
                      : fmt::format("the program ends itself with exit code 1: {}", error.message));
  return true;
}

/// Masks whose count decides a size.
void watch_counts(Session& session) {
  if (session.decisions == nullptr) return;
  session.c.count_unknown = [&session](const ops::Tensor& mask) {
    return session.decisions->count_of(session.interp, mask.numel());
  };
}

/// What torchrun puts into a process's environment, and what the program is given beside it.
std::vector<std::pair<std::string, std::string>> environment_of(const ModelProgram& program) {
  std::vector<std::pair<std::string, std::string>> variables;
  if (const std::optional<Rank>& rank = program.rank) {
    variables = {{"RANK", std::to_string(rank->index)},
                 {"WORLD_SIZE", std::to_string(rank->world)},
                 {"LOCAL_RANK", std::to_string(rank->local())},
                 {"LOCAL_WORLD_SIZE", std::to_string(rank->per_node)},
                 {"GROUP_RANK", std::to_string(rank->node())},
                 {"MASTER_ADDR", "127.0.0.1"},
                 {"MASTER_PORT", "29500"}};
  }
  variables.insert(variables.end(), program.environment.begin(), program.environment.end());
  return variables;
}

/// Names that every program has without an import.
constexpr std::string_view kCommon =
    "import math\n"
    "import torch\n"
    "from torch import nn\n"
    "import torch.nn.functional as F\n"
    "from torch._marks import phase, mark\n";

/// What the interpreter is to know of the program; what it prints and how it ends is the caller's.
lang::Interp::Options options_of(const ModelProgram& program, lang::Notes& notes) {
  lang::Interp::Options options;
  options.limits = program.limits;
  options.imports = {library::all(), program.files, program.path, program.packages, true};
  options.arguments = program.arguments;
  options.environment = environment_of(program);
  options.notes = &notes;
  options.missing_hint = [release = program.wheel.pytorch](const lang::Value& object) {
    return way_out(object, release);
  };
  return options;
}

/// None: everything unknown counts as zero.
std::optional<lang::Decisions> decisions_of(const std::vector<std::string>& assume) {
  if (std::ranges::find(assume, lang::kAssumeZeros) != assume.end()) return std::nullopt;
  std::vector<lang::GivenValue> given;
  given.reserve(assume.size());
  for (const std::string& text : assume) given.push_back(lang::parse_given_value(text));
  return std::make_optional<lang::Decisions>(std::move(given));
}

/// What a program runs in.
struct World {
  World(lang::Interp::Options options, Emitter& emitter, const ModelProgram& program)
      : interp(std::move(options)), session(interp, emitter, program.devices, program.wheel) {}
  lang::Python interp;
  Session session;
};

/// The program from its first line to its last. Errors: as the interpreter's.
void run_code(const ModelProgram& program, Session& session, Emitter& emitter) {
  lang::Interp& interp = session.interp;
  // A model's file is imported: what it does when it is run as a program is no part of the model.
  const std::string_view common = program.is_script ? std::string_view() : kCommon;
  const Ref<lang::Module> main =
      interp.run(std::make_shared<const SourceText>(SourceText{"<names>", std::string(common)}),
                 program.is_script ? "__main__" : "scenario");
  if (!program.ops.empty()) {
    std::vector<std::pair<std::string, lang::Value>> constants;
    for (const auto& [name, expression] : program.names)
      constants.emplace_back(name, interp.evaluate(*main, expression));
    add_custom_ops(session, program.ops, constants);
  }
  if (program.is_script) {
    emitter.name_phases();
    const std::shared_ptr<const SourceText>& text = program.model ? program.model : program.loop;
    lang::SourceFiles* const files = interp.options().imports.files.get();
    if (text) main->set(interp.intern("__file__"), interp.str(lang::whole_path(files, text->name)));
    for (const char* name : {"__package__", "__spec__", "__doc__"})
      main->set(interp.intern(name), lang::Value::none());
  }
  if (program.model) interp.run_in(*main, program.model);
  for (const auto& [name, expression] : program.names) {
    if (program.is_script) break;
    main->set(interp.intern(name), interp.evaluate(*main, expression));
  }
  if (program.setup) interp.run_in(*main, program.setup);
  if (program.loop) interp.run_in(*main, program.loop);
  emitter.flush();
  emitter.stop();
}

/// Numbers that are each rank's own are not known while it is asked which ranks do the same. Where
/// something that is not known decided, they might have.
void end_alike(lang::Alike& alike, const lang::Notes& notes,
               const std::optional<lang::Decisions>& decisions) {
  if (!decisions || !decisions->assumptions().empty() || notes.has_guessed()) alike.decide();
  alike.end();
}

/// Ends the program when its optimizers have made so many steps: what it holds then stays, as at
/// its own end. An exit that it catches changes nothing any more.
void end_after(std::uint32_t steps, Session& session, lang::Notes& notes) {
  lang::Interp& interp = session.interp;
  const lang::Value module = interp.import("torch._C");
  const auto end_step = [steps, &session, &notes](lang::Interp& in, lang::Arguments&) {
    session.emitter.end_step();
    if (session.emitter.amounts().steps < steps) return lang::Value::none();
    notes.add(
        lang::users_place(in),
        fmt::format("the program is ended after {} steps, as --steps or script.steps asks", steps));
    session.emitter.flush();
    session.emitter.stop();
    in.raise(*in.classes().system_exit, "");
  };
  module.as<lang::Module>()->set(interp.intern("end_step"),
                                 interp.function("end_step()", end_step));
}

/// Ends the program at a moment of simulated time, by the host's clock, likewise.
void end_at(std::int64_t host_ns, Session& session, lang::Notes& notes) {
  session.emitter.set_end(host_ns);
  session.at_end_of_time = [host_ns, &session, &notes] {
    const std::uint64_t steps = session.emitter.amounts().steps;
    notes.add(
        lang::users_place(session.interp),
        fmt::format("the program is ended at {:g} s of simulated time, as --until or "
                    "script.until asks: what follows is cut; {} step{} of an optimizer had ended",
                    static_cast<double>(host_ns) / 1e9, steps, steps == 1 ? "" : "s"));
  };
}

/// Lets go of what notes hold of a program, before that goes.
class Letting {
 public:
  explicit Letting(RunNotes& notes) : notes_(notes) {}
  Letting(const Letting&) = delete;
  Letting& operator=(const Letting&) = delete;
  ~Letting() { notes_.late_gradients.drop(); }

 private:
  RunNotes& notes_;
};

/// Leaves a world as it is until the process ends.
void leave_standing(std::unique_ptr<World> world) {
  static std::mutex mutex;
  static auto* const standing = new std::vector<std::unique_ptr<World>>;
  const std::lock_guard lock(mutex);
  standing->push_back(std::move(world));
}

}  // namespace

ModelSource::ModelSource(ModelProgram program, lang::PrintSink print)
    : model_(std::move(program)), print_(std::move(print)) {}

ModelSource::~ModelSource() = default;

void ModelSource::run(Program& program, Sink& sink) {
  Emitter emitter(program, sink);
  if (model_.details != nullptr) emitter.record_graph(*model_.details);
  if (model_.kernels != nullptr) emitter.record_kernels(*model_.kernels);
  notes_.tell(model_.alike);
  if (model_.takes_late_ends) notes_.take_late_ends();
  lang::Interp::Options options = options_of(model_, notes_);
  std::uint64_t printed = 0;
  Session* running = nullptr;
  options.print = [&](std::string_view text) {
    if (ops::Tracer* tracer = running == nullptr ? nullptr : running->c.tracer) {
      tracer->begin_call("print", {});
      tracer->end_call();
    }
    printed += text.size();
    if (print_) print_(text);
  };
  // What the frames of an uncaught exception hold is there until the process ends.
  options.ends_uncaught = [&emitter] {
    emitter.flush();
    emitter.stop();
  };
  std::optional<lang::Decisions> decisions = decisions_of(model_.assume);
  auto world = std::make_unique<World>(std::move(options), emitter, model_);
  const Letting letting(notes_);
  {
    lang::Interp& interp = world->interp;
    Session& session = world->session;
    running = &session;
    if (model_.alike != nullptr) tell_of_tensors(*model_.alike);
    add_modules(session);
    add_messages(session, model_.mailbox);
    session.c.backends = model_.backends;
    emitter.heed(&session.c.backends);
    for (const auto& [name, value] : model_.environment) {
      if (ops::is_cublas_variable(name)) session.c.set_cublas_environment(name, value);
    }
    session.rank = model_.rank;
    notes_.routing = model_.routing;
    if (notes_.routing)
      interp.call_method(interp.import("torch._routing"), interp.intern("start"), {});
    session.compile = model_.compile;
    session.decisions = decisions ? &*decisions : nullptr;
    watch_counts(session);
    if (model_.end_after_steps > 0) end_after(model_.end_after_steps, session, notes_);
    if (model_.end_at_ns > 0) end_at(model_.end_at_ns, session, notes_);
    std::optional<ModelWatch> watch;
    if (model_.watched != nullptr) session.watch = &watch.emplace(session, *model_.watched);
    Repetition repetition(session, printed);
    if (model_.leave_out_repeats && model_.end_after_steps == 0 && model_.end_at_ns == 0)
      interp.set_loop_watcher(&repetition);
    try {
      run_code(model_, session, emitter);
    } catch (const lang::UncaughtException& e) {
      emitter.stop();
      const bool is_oom =
          std::find(e.causes.begin(), e.causes.end(), "torch.OutOfMemoryError") != e.causes.end();
      if (!is_oom && !is_good_exit(e) && !is_noted_exit(e, emitter, notes_)) throw with_way_out(e);
      ended_by_oom_ = is_oom;
      if (is_oom) oom_message_ = e.message;
    } catch (...) {
      emitter.stop();
      throw;
    }
    notes_.late_gradients.end(session);
    // Also what no line of the program's own has read: the order of a sampler, a mask's count.
    if (std::string unseeded = unseeded_note(session); !unseeded.empty()) {
      const auto is_told = [&](const lang::Note& note) { return note.text == unseeded; };
      if (std::none_of(notes_.all().begin(), notes_.all().end(), is_told))
        notes_.add({}, std::move(unseeded));
    }
    operators_ = session.op_table().called();
    allocator_conf_ = session.allocator_conf;
  }
  if (model_.alike != nullptr) end_alike(*model_.alike, notes_, decisions);
  if (model_.is_last) {
    leave_standing(std::move(world));
  } else {
    world->session.release();
    world.reset();
  }
  if (decisions) assumptions_ = decisions->assumptions();
  emitter.graph().on_backward = nullptr;
  graph_ = std::make_unique<graph::OpGraph>(std::move(emitter.graph()));
}

}  // namespace tidemark::torch
