#include "sim/lang/runtime/library_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sim/lang/runtime/exceptions.h"

namespace tidemark::lang {

namespace {

/// What the package that a module stands for has under that name and the module has not, as the
/// host module _known_names says. Empty: no such name, or nobody knows.
Value known_member(Interp& in, const Module& module, Name name) {
  static constexpr const char* kKnownNames = "_known_names";
  if (in.text(name).starts_with('_') || !in.importer().is_own(kKnownNames)) return {};
  const Value member = in.get_attr(in.import(kKnownNames), in.intern("member"));
  const Value found = in.call(member, {in.str(module.name), in.str(std::string(in.text(name)))});
  return found.tag() == Tag::kNotImplemented ? Value() : found;
}

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
      if (native.empty()) native = known_member(in, module, name);
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
          module.set(name, in.importer().import(in.text(entry->module)));
          break;
        case LibraryName::Kind::kMember:
          module.set(name, in.importer().import_member(in.importer().import(in.text(entry->module)),
                                                       entry->member));
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
      if (in.text(name).starts_with("__")) return Value();
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

Value make_later(Interp& interp, std::string name) {
  return make_placeholder(interp, name, "is not modelled",
                          "leave it out: nothing on the device depends on it");
}

Value make_placeholder(Interp& interp, const std::string& name, const std::string& why,
                       const std::string& hint) {
  const Value make = interp.get_attr(interp.import("_placeholders"), interp.intern("make"));
  return interp.call(make, {interp.str(name), interp.str(why), interp.str(hint)});
}

}  // namespace tidemark::lang
