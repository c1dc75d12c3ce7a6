#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/base/bytes.h"
#include "sim/ops/memory.h"

namespace tidemark::lang {
class Value;
}
namespace tidemark::ops {
class TensorImpl;
}

namespace tidemark::torch {

class ModuleObject;
class Session;

/// One module of a model: what nn.Module knows of it, and what its first call gave.
struct WatchedModule {
  std::string path;  ///< from the model: "layers.0.fc1"; of the model itself its class
  std::string type;  ///< "Linear"
  std::uint32_t depth = 0;
  std::string output;  ///< "[64, 10]"; empty: not called
  // Of the module and all below it, each tensor once in the whole model: where it stands first.
  std::uint64_t parameters = 0;
  std::uint64_t trainable_parameters = 0;
  Bytes parameter_bytes = 0;
  Bytes buffer_bytes = 0;
};

/// A model and every module of it, itself first, in the order of named_modules().
struct WatchedModel {
  std::vector<WatchedModule> modules;
};

/// The statistics' names of the moments at which a model's call begins and ends
/// (MeasuredPoint::name): "model 0 begins". `model`: index among the watched.
std::string call_begins(std::size_t model);
std::string call_ends(std::size_t model);

/// Looks on while a program runs and changes nothing: models as they are first called, or named to
/// it by code.
class ModelWatch {
 public:
  ModelWatch(Session& session, std::vector<WatchedModel>& into) : session_(session), into_(into) {}
  /// A model that code names; one that is known already counts once.
  void add(ModuleObject& model);
  /// A module's call begins. `is_model`: no other module's is under way.
  void enter(ModuleObject& module, bool is_model);
  void leave(ModuleObject& module, const lang::Value& result, bool is_model);

 private:
  using Place = std::pair<std::size_t, std::size_t>;  ///< model, module
  void walk(ModuleObject& module, const std::string& path, std::uint32_t depth, WatchedModel& model,
            std::set<const ops::TensorImpl*>& seen);
  void mark(const std::string& name);

  Session& session_;
  std::vector<WatchedModel>& into_;
  std::unordered_map<const ModuleObject*, Place> places_;
};

}  // namespace tidemark::torch
