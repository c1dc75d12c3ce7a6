#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "sim/lang/builtins/python.h"
#include "sim/lang/runtime/exceptions.h"
#include "sim/library/library.h"

/// Runs programs of the model language for tests: collects what they print, gives them probe(NAME),
/// whose objects say when they die, and stand-ins for torch's modules.
namespace tidemark::lang {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class LangProgram {
 public:
  explicit LangProgram(Limits limits = {}, std::filesystem::path siblings = {}) {
    Interp::Options options;
    options.limits = limits;
    options.print = [this](std::string_view text) { output_ += text; };
    std::map<std::string, std::string> texts;
    if (!siblings.empty()) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(siblings)) {
        if (entry.path().extension() == ".py")
          texts[std::filesystem::relative(entry.path(), siblings).generic_string()] =
              read_text(entry.path());
      }
    }
    options.imports = {library::python(), std::make_shared<TextFiles>(texts), {""}, {}, false};
    interp_ = std::make_unique<Python>(std::move(options));
    Interp& in = *interp_;
    Ref<ClassObject> type = in.make_class("probe", "__main__");
    type->construct = [this](Interp& interp, ClassObject& own, CallArgs& args) -> Value {
      return make_ref<Probe>(interp, Ref<ClassObject>(&own), interp.to_str(args.values[0]),
                             output_);
    };
    in.set_builtin(in.intern("probe"), type);
  }

  Interp& interp() { return *interp_; }

  /// What the program printed. Errors: InputError.
  std::string run(std::string text, std::string name = "test.py") {
    output_.clear();
    module_ = interp_->run(
        std::make_shared<const SourceText>(SourceText{std::move(name), std::move(text)}),
        "__main__");
    return output_;
  }
  /// The rendered problems of a program that must not run through; "" if it does.
  std::string problems(std::string text, std::string name = "test.py") {
    try {
      run(std::move(text), std::move(name));
    } catch (const InputError& error) {
      return render_problems(error.problems());
    }
    return {};
  }
  [[nodiscard]] const std::string& output() const { return output_; }
  Module& module() { return *module_; }

  /// torch, torch.nn, ... with a class for every name that is asked for; all can be called,
  /// decorated with, and inherited from.
  void add_torch() {
    for (const char* name :
         {"torch", "torch.nn", "torch.nn.functional", "torch.utils", "torch.utils.checkpoint"}) {
      interp_->add_module(name, [](Interp&, Module& module) {
        module.make_missing = [](Interp& in, Module& own, Name id) -> Value {
          Ref<ClassObject> type = in.make_class(in.text(id), own.name);
          const Value init =
              in.raw_function("__init__", [](Interp&, CallArgs&) { return Value::none(); });
          type->attrs.set(known(name::kInit), init);
          const Value call = in.raw_function("__call__", [](Interp&, CallArgs& args) {
            return args.positional > 1 ? args.values[1] : Value::none();
          });
          type->attrs.set(known(name::kCall), call);
          return type;
        };
      });
    }
  }

 private:
  class Probe final : public HostObject {
   public:
    Probe(Interp& interp, Ref<ClassObject> type, std::string name, std::string& output)
        : HostObject(interp.heap(), std::move(type), 1), name_(std::move(name)), output_(output) {}
    ~Probe() override { output_ += "drop " + name_ + "\n"; }
    std::string repr(Interp& /*interp*/) override { return name_; }

   private:
    std::string name_;
    std::string& output_;
  };

  std::string output_;
  std::unique_ptr<Python> interp_;
  Ref<Module> module_;
};

}  // namespace tidemark::lang
