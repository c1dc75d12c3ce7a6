#include "sim/lang/runtime/library_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/lang/runtime/exceptions.h"

namespace tidemark::lang {

namespace {

/// One module's file, as far as it has been run.
class FileInUse {
 public:
  using MakeMissing = decltype(Module::make_missing);

  FileInUse(const LibraryModule& file, MakeMissing native)
      : file_(file), native_(std::move(native)), made_(file.names.size) {}

  /// Empty: the module has no such name, or it is being made.
  Value make(Interp& in, Module& module, Name name) {
    const LibraryName* entry = file_.find(name);
    if (entry == nullptr) {
      Value native = native_ ? native_(in, module, name) : Value();
      if (!native.empty()) module.set(name, native);
      return native;
    }
    const bool is_own = entry->kind == LibraryName::Kind::kDefinition ||
                        entry->kind == LibraryName::Kind::kStatement;
    if (is_own) begin(in, module);
    const auto index = static_cast<std::size_t>(entry - file_.names.data);
    if (!made_[index]) {
      made_[index] = true;
      switch (entry->kind) {
        case LibraryName::Kind::kModule:
          module.set(name, in.import(in.text(entry->module)));
          break;
        case LibraryName::Kind::kMember:
          module.set(name, in.import_name(*in.import(in.text(entry->module)), entry->member));
          break;
        case LibraryName::Kind::kDefinition:
          in.run_part(module, *file_.code, entry->definition);
          break;
        case LibraryName::Kind::kStatement:  // begin() has made it, if it is to be had yet
          break;
      }
    }
    const Value* found = module.find(name);
    return found == nullptr ? Value() : *found;
  }

 private:
  /// Runs what stands between the definitions.
  void begin(Interp& in, Module& module) {
    if (std::exchange(begun_, true)) return;
    in.run_part(module, *file_.code, file_.statements);
  }

  const LibraryModule& file_;
  const MakeMissing native_;
  std::vector<bool> made_;  ///< or being made; by place among file_.names
  bool begun_ = false;
};

}  // namespace

void load_lazily(Interp& interp, Module& module, const LibraryModule& file) {
  if (file.code == nullptr) {
    module.make_missing = [&file](Interp& in, Module&, Name name) {
      return make_later(in, fmt::format("{}.{}", view(file.name), in.text(name)));
    };
    return;
  }
  module.file = &file;
  const auto in_use = std::make_shared<FileInUse>(file, std::move(module.make_missing));
  module.make_missing = [in_use](Interp& in, Module& own, Name name) {
    return in_use->make(in, own, name);
  };
  module.list_missing = [&interp, &file, native = std::move(module.list_missing)] {
    std::vector<std::string_view> names;
    for (const LibraryName& each : file.names) {
      if (each.kind != LibraryName::Kind::kModule) names.push_back(interp.text(each.name));
    }
    if (native) {
      const std::vector<std::string_view> more = native();
      names.insert(names.end(), more.begin(), more.end());
    }
    return names;
  };
}

namespace {

/// Something outside the language: it can be named and handed on, and any use of it is refused.
class Later final : public Instance {
 public:
  Later(Interp& interp, std::string name)
      : Instance(interp.heap(), interp.classes().object), name_(std::move(name)) {}
  Value get_attr(Interp& interp, Name) override { refuse(interp); }
  void set_attr(Interp& interp, Name, Value) override { refuse(interp); }
  Value call(Interp& interp, CallArgs&) override { refuse(interp); }
  Value get_item(Interp& interp, const Value&) override { refuse(interp); }
  Value iterate(Interp& interp) override { refuse(interp); }

 private:
  [[noreturn]] void refuse(Interp& interp) const {
    interp.refuse(name_ + " is not modelled", "leave it out: nothing on the device depends on it");
  }
  std::string name_;
};

}  // namespace

Value make_later(Interp& interp, std::string name) {
  return make_ref<Later>(interp, std::move(name));
}

}  // namespace tidemark::lang
