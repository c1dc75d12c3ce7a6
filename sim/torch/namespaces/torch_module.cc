#include "sim/torch/namespaces/torch_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numbers>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/torch/namespaces/torch_c.h"
#include "sim/torch/prelude.h"
#include "sim/torch/tensors/op_binding.h"

namespace tidemark::torch {

using lang::Interp;
using lang::Name;
using lang::Value;

namespace {

/// The blank-separated words of a text.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    if (end != 0) words.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return words;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto ends_word = [text](std::size_t at) { return at >= text.size() || text[at] == ' '; };
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    if ((at == 0 || ends_word(at - 1)) && ends_word(at + word.size())) return true;
  }
  return false;
}

/// The prelude's part of one module. Of a file that is needed the statements between definitions
/// are run, each function and class only once it is asked for: reading them is a fifth of a short
/// run.
class LazyModule {
 public:
  LazyModule(Session& session, std::string_view name, std::string_view place)
      : session_(session), place_(place) {
    for (const PreludeFile& file : prelude()) {
      if (has_word(file.module, name)) files_.push_back(&file);
    }
  }

  /// The name from the prelude or from the op table; Empty: neither has it.
  Value make(lang::Module& module, Name name) {
    const std::string_view text = session_.interp.text(name);
    for (const PreludeFile*& file : files_) {
      if (file == nullptr) continue;
      if (!has_word(file->defines, text)) continue;
      begin(module, *std::exchange(file, nullptr));
      break;
    }
    if (const auto piece = pieces_.find(text); piece != pieces_.end()) {
      const Piece definition = piece->second;
      pieces_.erase(piece);
      run(module, definition);
    }
    if (const Value* found = module.find(name)) return *found;
    if (place_.empty()) return {};
    Value op = session_.op_table().find(place_, text);
    if (!op.empty()) module.set(name, op);
    return op;
  }

 private:
  struct Piece {
    std::string_view file;
    std::string_view text;
  };

  void run(lang::Module& module, const Piece& piece) {
    const auto source = std::make_shared<const SourceText>(
        SourceText{"<" + std::string(piece.file) + ">", std::string(piece.text)});
    session_.interp.run_part(module, source, lang::whole(*source));
  }

  /// The name that a line at the left margin defines; empty: none.
  static std::string_view defined_by(std::string_view line) {
    for (const std::string_view word : {"def ", "class "}) {
      if (!line.starts_with(word)) continue;
      line.remove_prefix(word.size());
      return line.substr(0, line.find_first_of("(:"));
    }
    return {};
  }

  void begin(lang::Module& module, const PreludeFile& file) {
    std::string between;
    std::string_view name;
    std::size_t first = std::string_view::npos;  // of the definition under way
    for (std::size_t at = 0; at < file.text.size();) {
      const std::size_t end = std::min(file.text.find('\n', at), file.text.size() - 1) + 1;
      const std::string_view line = file.text.substr(at, end - at);
      const bool goes_on = line[0] == ' ' || line[0] == '\n' || line[0] == ')';
      if (!goes_on && !name.empty()) {
        pieces_[name] = {file.name, file.text.substr(first, at - first)};
        name = {};
        first = std::string_view::npos;
      }
      if (first == std::string_view::npos && (line[0] == '@' || !defined_by(line).empty()))
        first = at;
      if (first == std::string_view::npos) between += line;
      if (!goes_on && name.empty()) name = defined_by(line);
      at = end;
    }
    if (!name.empty()) pieces_[name] = {file.name, file.text.substr(first)};
    run(module, {file.name, between});
  }

  Session& session_;
  const std::string_view place_;
  std::vector<const PreludeFile*> files_;               ///< null: begun
  std::unordered_map<std::string_view, Piece> pieces_;  ///< not run yet; looked up, never walked
};

/// `place`: where the op table's entries for this module are ("torch", "F"), or empty.
void make_lazy(Session& session, lang::Module& module, std::string_view place) {
  module.make_missing = [lazy = std::make_shared<LazyModule>(session, module.name, place)](
                            Interp&, lang::Module& target, Name name) {
    return lazy->make(target, name);
  };
  module.list_missing = [&session, place, own = module.name] {
    std::vector<std::string_view> names;
    for (const PreludeFile& file : prelude()) {
      if (!has_word(file.module, own)) continue;
      const auto words = words_of(file.defines);
      names.insert(names.end(), words.begin(), words.end());
    }
    if (!place.empty()) {
      const auto ops = session.op_table().list(place);
      names.insert(names.end(), ops.begin(), ops.end());
    }
    return names;
  };
}

/// Methods of tensors that prelude files define: the first module of such a file has the function.
void add_prelude_methods(Session& session) {
  for (const PreludeFile& file : prelude()) {
    if (!has_word(file.module, "torch.Tensor")) continue;
    const std::string home(words_of(file.module).front());
    for (const std::string_view text : words_of(file.defines)) {
      const Name name = session.interp.intern(text);
      if (session.tensor_class->attrs.find(name) != nullptr) continue;
      session.tensor_class->attrs.set(
          name, session.interp.raw_function(text, [home, name](Interp& in, lang::CallArgs& args) {
            return in.call(in.get_attr(in.import(home), name), args);
          }));
    }
  }
}

void fill_torch(Session& session, lang::Module& torch) {
  Interp& interp = session.interp;
  for (std::size_t i = 0; i < ops::kScalarTypes.size(); ++i) {
    const Value& dtype = session.dtypes.at(static_cast<std::uint8_t>(i));
    torch.set(interp.intern(ops::kScalarTypes[i].name), dtype);
    if (!ops::kScalarTypes[i].alias.empty())
      torch.set(interp.intern(ops::kScalarTypes[i].alias), dtype);
  }
  const auto format = [&](std::string_view name, ops::MemoryFormat value) {
    torch.set(interp.intern(name), session.formats.at(static_cast<std::uint8_t>(value)));
  };
  format("contiguous_format", ops::MemoryFormat::kContiguous);
  format("legacy_contiguous_format", ops::MemoryFormat::kContiguous);
  format("channels_last", ops::MemoryFormat::kChannelsLast);
  format("channels_last_3d", ops::MemoryFormat::kChannelsLast3d);
  format("preserve_format", ops::MemoryFormat::kPreserve);
  torch.set(interp.intern("Tensor"), session.tensor_class);
  torch.set(interp.intern("Size"), session.size_class);
  torch.set(interp.intern("dtype"), session.dtype_class);
  torch.set(interp.intern("device"), session.device_class);
  torch.set(interp.intern("memory_format"), session.memory_format_class);
  torch.set(interp.intern("OutOfMemoryError"), session.out_of_memory);
  torch.set(interp.intern("strided"), interp.str("torch.strided"));
  torch.set(interp.intern("sparse_coo"), interp.str("torch.sparse_coo"));
  torch.set(interp.intern("__version__"), interp.str("2.11.0"));
  torch.set(interp.intern("pi"), Value::real(std::numbers::pi));
  torch.set(interp.intern("inf"), Value::real(std::numeric_limits<double>::infinity()));
  torch.set(interp.intern("nan"), Value::real(std::numeric_limits<double>::quiet_NaN()));
  torch.set(interp.intern("_C"), interp.import("torch._C"));
  make_lazy(session, torch, "torch");
}

/// The files that some of torch's packages are made of: each has its package's names.
void add_files_of_packages(Interp& interp) {
  struct Package {
    std::string_view name;
    std::string_view files;
  };
  static constexpr Package kPackages[] = {
      {"torch.nn",
       "modules modules.activation modules.batchnorm modules.container modules.conv "
       "modules.distance modules.dropout modules.flatten modules.instancenorm modules.linear "
       "modules.loss modules.module modules.normalization modules.padding modules.pixelshuffle "
       "modules.pooling modules.rnn modules.sparse modules.transformer modules.upsampling"},
      {"torch.optim",
       "optimizer adadelta adafactor adagrad adam adamax adamw asgd lbfgs nadam radam rmsprop "
       "rprop "
       "sgd sparse_adam"},
      {"torch.utils.data", "dataset dataloader sampler distributed"},
      {"torch.nn.utils", "clip_grad convert_parameters"},
      {"torch.autograd", "function variable grad_mode"},
      {"torch.amp", "autocast_mode grad_scaler"},
      {"torch.cuda", "random streams"},
      {"torch.cuda.amp", "autocast_mode grad_scaler"},
      {"torch.distributions",
       "bernoulli beta categorical dirichlet distribution exp_family exponential gamma geometric "
       "gumbel half_normal independent kl laplace log_normal logistic_normal "
       "mixture_same_family multinomial multivariate_normal negative_binomial normal "
       "one_hot_categorical poisson relaxed_bernoulli relaxed_categorical studentT "
       "transformed_distribution transforms uniform utils weibull"},
  };
  for (const Package& package : kPackages) {
    for (const std::string_view file : words_of(package.files)) {
      interp.add_module(fmt::format("{}.{}", package.name, file),
                        [&package](Interp& in, lang::Module& module) {
                          const Ref<lang::Module> whole = in.import(package.name);
                          module.make_missing = [whole](Interp& run, lang::Module&, Name wanted) {
                            return run.find_attr(Value(whole), wanted);
                          };
                          module.list_missing = whole->list_missing;
                        });
    }
  }
}

}  // namespace

void add_modules(Session& session) {
  Interp& interp = session.interp;
  interp.add_module("torch._C",
                    [&session](Interp&, lang::Module& module) { fill_torch_c(session, module); });
  interp.add_module("torch",
                    [&session](Interp&, lang::Module& module) { fill_torch(session, module); });
  interp.add_module("torch.nn", [&session](Interp& in, lang::Module& module) {
    module.set(in.intern("Parameter"), session.parameter_class);
    make_lazy(session, module, "");
  });
  interp.add_module("torch.nn.parameter", [&session](Interp& in, lang::Module& module) {
    module.set(in.intern("Parameter"), session.parameter_class);
    make_lazy(session, module, "");
  });
  interp.add_module("torch.nn.functional",
                    [&session](Interp&, lang::Module& module) { make_lazy(session, module, "F"); });
  interp.add_module("torch.cuda", [&session](Interp&, lang::Module& module) {
    fill_cuda(session, module);
    make_lazy(session, module, "");
  });
  for (const std::string_view name : {"torch.nn.init",
                                      "torch.nn.utils",
                                      "torch.nn.modules.utils",
                                      "torch.nn.parallel",
                                      "torch.nn.parallel.comm",
                                      "torch.distributed",
                                      "torch.optim",
                                      "torch.optim.lr_scheduler",
                                      "torch.optim.swa_utils",
                                      "torch.amp",
                                      "torch.cuda.amp",
                                      "torch.cuda.memory",
                                      "torch.cuda.nvtx",
                                      "torch.profiler",
                                      "torch.autograd.profiler",
                                      "torch.version",
                                      "torch.compiler",
                                      "torch._dynamo",
                                      "torch.backends",
                                      "torch.backends.cuda",
                                      "torch.backends.cudnn",
                                      "torch.utils",
                                      "torch.utils.checkpoint",
                                      "torch.utils.data",
                                      "torch.autograd",
                                      "torch.autograd.graph",
                                      "torch.distributions",
                                      "torch.distributions.constraints",
                                      "torch.func",
                                      "torch.nn.utils.stateless",
                                      "torch.jit",
                                      "torch.accelerator",
                                      "torch.utils.tensorboard",
                                      "torch.linalg",
                                      "torch.special",
                                      "torch.random",
                                      "torch._tensor",
                                      "einops",
                                      "einops.layers",
                                      "einops.layers.torch",
                                      "wandb",
                                      "numpy",
                                      "numpy._array",
                                      "numpy.linalg",
                                      "numpy.random",
                                      "torch.fft",
                                      "torch.nn.utils.rnn",
                                      "torch.nn.utils.fusion",
                                      "torch.nn.utils.prune",
                                      "torch.nn.utils.parametrize",
                                      "torch.nn.utils.parametrizations",
                                      "torch.nn.attention",
                                      "torch._marks"}) {
    interp.add_module(std::string(name), [&session](Interp&, lang::Module& module) {
      make_lazy(session, module, "");
    });
  }
  add_files_of_packages(interp);
  add_prelude_methods(session);
}

}  // namespace tidemark::torch
